// The service with its locks on a majority of Redis nodes: start checks, nodes going away.
#include "tests/support/http/rush.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redlock_nodes.h"
#include "tests/support/servers/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace festa::test {

namespace {

using testing::HasSubstr;

const std::string kPinned = R"({"title":"pin","content":"me","isPinned":true})";

Service::Settings onNodes(const std::string& nodes) {
  return {{"REDLOCK_NODES", nodes},
          {"REDLOCK_TIMEOUT_MS", "500"},
          {"REDLOCK_CONNECT_TIMEOUT_MS", "0"},
          {"LOCK_STRATEGY", "redlock"}};
}

std::string address(const RedisServer& server) {
  return "127.0.0.1:" + std::to_string(server.port());
}

// Two nodes as they should be and this one.
void expectRefused(const RedisServer& third, const std::string& reason) {
  auto& good = sharedRedlockNodes();
  const auto nodes = address(good.at(0)) + "," + address(good.at(1)) + "," + address(third);
  const auto start = tryStart(sharedPg().createDatabase(), onNodes(nodes));
  EXPECT_EQ(start.status, 1) << start.output;
  EXPECT_THAT(start.output, HasSubstr("'redlock.nodes': " + address(third)));
  EXPECT_THAT(start.output, HasSubstr(reason));
}

}  // namespace

TEST(Redlock, ANodeThatMayEvictKeysStopsTheStart) {
  expectRefused(RedisServer({"--maxmemory-policy", "allkeys-lru"}), "noeviction");
}

TEST(Redlock, ANodeThatMayForgetSomeStopsTheStart) {
  expectRefused(RedisServer({"--save", "3600 1"}), "appendfsync");
  expectRefused(RedisServer({"--appendonly", "yes", "--appendfsync", "everysec"}), "appendfsync");
}

TEST(Redlock, ANodeThatRefusesUsStopsTheStart) {
  const RedisServer closed;
  closed.command({"CONFIG", "SET", "requirepass", "hidden"});
  expectRefused(closed, "NOAUTH");
}

TEST(Redlock, AMajorityThatCannotBeReachedStopsTheStart) {
  const auto nodes = address(sharedRedlockNodes().at(0)) +
                     ",127.0.0.1:" + std::to_string(freePort()) +
                     ",127.0.0.1:" + std::to_string(freePort());
  const auto start = tryStart(sharedPg().createDatabase(), onNodes(nodes));
  EXPECT_EQ(start.status, 1);
  EXPECT_THAT(start.output, HasSubstr("redlock.nodes"));
}

TEST(Redlock, AMinorityThatIsDownIsLoggedAndTheStartSucceeds) {
  RedisServer durable({"--appendonly", "yes", "--appendfsync", "always"});
  RedisServer forgetful;
  for (const auto* node : {&durable, &forgetful})
    node->command({"SET", "festabook:redlock:ready", "1"});
  const auto down = "127.0.0.1:" + std::to_string(freePort());
  Service service(sharedPg().createDatabase(),
                  patient(onNodes(down + "," + address(durable) + "," + address(forgetful))));
  EXPECT_THAT(service.log(), HasSubstr(down));
  const auto headers = service.newFestival();
  EXPECT_TRUE(eventually([&] {
    return service.client().send("POST", "/announcements", kPinned, headers).status == 201;
  }));
  EXPECT_TRUE(
      eventually([&] { return service.client().get("/readyz").json()["degraded"].empty(); }));
}

// Nodes that were never used are in quarantine first, and then the service works by itself.
TEST(Redlock, FreshNodesServeAfterTheirQuarantine) {
  RedlockNodes nodes;
  auto settings = onNodes(nodes.addresses());
  settings["REDLOCK_MAX_LEASE_MS"] = "3000";
  Service service(sharedPg().createDatabase(), settings);
  const auto headers = service.newFestival();
  auto client = service.client();
  const auto early = client.send("POST", "/announcements", kPinned, headers);
  EXPECT_EQ(early.status, 503);
  EXPECT_EQ(early.code(), "LOCK_STORAGE_UNAVAILABLE");
  EXPECT_TRUE(eventually(
      [&] { return client.send("POST", "/announcements", kPinned, headers).status == 201; }));
}

TEST(Redlock, WhileAMajorityIsAwayWritesAre503AndItRecovers) {
  RedlockNodes nodes;
  nodes.reset("festabook");
  Service service(sharedPg().createDatabase(), patient(onNodes(nodes.addresses())));
  const auto headers = service.newFestival();
  auto client = service.client();
  const auto pin = [&] { return client.send("POST", "/announcements", kPinned, headers); };
  ASSERT_EQ(untilServed(pin).status, 201);
  const auto signal = [&](int number) {
    for (const std::size_t node : {0, 1, 2}) nodes.at(node).process().signal(number);
  };
  signal(SIGSTOP);
  const auto refused = pin();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.code(), "LOCK_STORAGE_UNAVAILABLE");
  const auto ready = client.get("/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.json()["degraded"][0].asString(), "redlock");
  signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return pin().status == 201; }));
  EXPECT_TRUE(eventually([&] { return client.get("/readyz").json()["degraded"].empty(); }));
}

}  // namespace festa::test
