// The service with its locks on Redis: start checks, several instances, the server going away.
#include "app/strategies/strategies.h"
#include "tests/support/http/rush.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/redlock_nodes.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

const std::string kPinned = R"({"title":"pin","content":"me","isPinned":true})";

Service::Settings onRedis(const RedisServer& redis, Service::Settings more = {}) {
  more["REDIS_HOST"] = "127.0.0.1";
  more["REDIS_PORT"] = std::to_string(redis.port());
  more.emplace("LOCK_STRATEGY", "redis-spin");
  return more;
}

}  // namespace

TEST(RedisLocks, AServerThatMayEvictKeysStopsTheStart) {
  const RedisServer evicting({"--maxmemory-policy", "allkeys-lru"});
  const auto start = tryStart(sharedPg().createDatabase(), onRedis(evicting));
  EXPECT_EQ(start.status, 1);
  EXPECT_NE(start.output.find("noeviction"), std::string::npos) << start.output;
}

TEST(RedisLocks, AStrategyOnRedisWithoutItsServerStopsTheStart) {
  const auto start = tryStart(sharedPg().createDatabase(), {{"LOCK_STRATEGY", "redis-spin"}});
  EXPECT_EQ(start.status, 1);
  EXPECT_NE(start.output.find("redis.host"), std::string::npos) << start.output;
}

// A hundred councils over three processes. The locks alone, without fence and constraints, so that
// a lock that does not reach the other processes is seen.
TEST(ThreeInstances, LeaveThreePinsByEverySharedStrategyAlone) {
  const auto database = sharedPg().createDatabase();
  sharedRedlockNodes().reset("festabook");
  std::vector<std::unique_ptr<Service>> instances;
  for (int i = 0; i < 3; ++i)
    instances.push_back(std::make_unique<Service>(
        database, onRedis(sharedRedis(), {{"LAB", "true"},
                                          {"DATABASE_CONNECTIONS", "16"},
                                          {"REDLOCK_NODES", sharedRedlockNodes().addresses()},
                                          {"REDLOCK_TIMEOUT_MS", "500"}})));
  const auto pinsAfterRush = [&](const std::string& strategy) {
    auto headers = instances[0]->newFestival();
    headers["X-Concurrency"] = strategy;
    rush(instances[0]->port(), 100, [&](HttpClient&, int i) {
      HttpClient client(instances[static_cast<std::size_t>(i) % 3]->port());
      return untilServed([&] { return client.send("POST", "/announcements", kPinned, headers); });
    });
    PgSession session(database);
    return std::stoll(
        *session.query("SELECT count(*) FROM announcements WHERE is_pinned AND "
                       "festival_id = $1::bigint",
                       {std::to_string(instances[0]->lastFestival())})[0][0]);
  };
  for (const auto& row : strategyTable())
    if (row.acrossProcesses && !row.queues) {
      EXPECT_EQ(pinsAfterRush(row.name), 3) << row.name;
    }
  // The control: a lock inside each process is not enough.
  std::int64_t most = 0;
  for (int round = 0; round < 20 && most <= 3; ++round)
    most = std::max<std::int64_t>(most, pinsAfterRush("memory"));
  EXPECT_GT(most, 3) << "the test is blind";
}

TEST(RedisLocks, AFullServerIsAnUnavailableLockStorageNotOurFault) {
  RedisServer redis;
  Service service(sharedPg().createDatabase(), patient(onRedis(redis)));
  const auto headers = service.newFestival();
  redis.command({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = service.client().send("POST", "/announcements", kPinned, headers);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "LOCK_STORAGE_UNAVAILABLE");
}

TEST(RedisLocks, WhileRedisIsAwayWritesAre503ReadsWorkAndItRecovers) {
  RedisServer redis;
  Service service(sharedPg().createDatabase(), patient(onRedis(redis)));
  const auto headers = service.newFestival();
  auto client = service.client();
  ASSERT_EQ(client.send("POST", "/announcements", kPinned, headers).status, 201);
  redis.kill();
  const auto refused = client.send("POST", "/announcements", kPinned, headers);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "LOCK_STORAGE_UNAVAILABLE");
  EXPECT_FALSE(refused.header("retry-after").empty());
  const auto festival = std::to_string(service.lastFestival());
  EXPECT_EQ(client.get("/announcements", {{"festival", festival}}).status, 200);
  const auto ready = client.get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.json()["degraded"][0].asString(), "redis");
  redis.start();
  EXPECT_TRUE(eventually(
      [&] { return client.send("POST", "/announcements", kPinned, headers).status == 201; }));
  EXPECT_TRUE(eventually([&] { return client.get("/readyz").json()["degraded"].empty(); }));
}

}  // namespace festa::test
