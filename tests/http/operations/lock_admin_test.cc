#include "lock/storages.h"
#include "tests/http/api_test.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"

#include <signal.h>

#include <thread>

namespace festa::test {

namespace {

const std::string kPinned = R"({"title":"pin","content":"me","isPinned":true})";

// Requests that are under way while the test looks.
class Background {
 public:
  ~Background() { wait(); }
  void send(int port, const Headers& headers) {
    threads_.emplace_back([port, headers] {
      HttpClient client(port);
      EXPECT_EQ(client.send("POST", "/announcements", kPinned, headers).status, 201);
    });
  }
  void wait() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

Json::Value locksOf(const Service& service) {
  const auto response = service.client().get("/admin/locks", service.as("admin"));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(utf8Length(response.body)) << "not UTF-8";
  const auto json = response.json();
  EXPECT_EQ(namesIn(json), (std::set<std::string>{"instance", "waiting", "fleet", "truncated"}));
  return json;
}

int countOf(const Json::Value& locks, const std::string& state) {
  int count = 0;
  for (const auto& row : locks["instance"]) count += row["state"].asString() == state ? 1 : 0;
  return count;
}

// For long enough to be looked at, and less than the database lets a transaction stand idle.
Headers pausing(Headers headers, int milliseconds = 3500) {
  headers["X-Lab-Fault"] = "pause-before-commit=" + std::to_string(milliseconds);
  return headers;
}

class LockAdminTest : public ApiTest {
 protected:
  static void SetUpTestSuite() {
    // Those that wait for one that pauses get their turn.
    service = std::make_unique<Service>(
        sharedPg().createDatabase(),
        patient({{"LAB", "true"}, {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"}}));
  }
};

// A service on a Redis of its own, into which a test may put what it likes.
class FleetTest : public testing::Test {
 protected:
  std::unique_ptr<Service> startService(Service::Settings settings = {}) {
    settings["LAB"] = "true";
    settings["LOCK_STRATEGY"] = "redis-spin";
    settings["REDIS_HOST"] = "127.0.0.1";
    settings["REDIS_PORT"] = std::to_string(redis_.port());
    return std::make_unique<Service>(database_, patient(std::move(settings)));
  }
  void plant(const std::string& name, const std::string& owner = "somebody") const {
    ASSERT_EQ(redis_.command({"SET", name, owner, "PX", "60000"}), "OK");
  }
  // The one hold of the fleet under this key.
  static Json::Value holdIn(const Json::Value& locks, const std::string& key) {
    Json::Value found;
    for (const auto& hold : locks["fleet"])
      if (hold["key"].asString() == key) {
        EXPECT_TRUE(found.isNull()) << key << " is listed twice";
        found = hold;
      }
    return found;
  }

  RedisServer redis_;
  const Config::Database database_ = sharedPg().createDatabase();
};

}  // namespace

TEST_F(LockAdminTest, IsForAdminsOnly) {
  expectProblem(client.get("/admin/locks"), 401, "UNAUTHENTICATED");
  expectProblem(client.get("/admin/locks", bearing("no.such.token")), 401, "UNAUTHENTICATED");
  expectProblem(client.get("/admin/locks", council), 403, "FORBIDDEN");
  expectProblem(client.get("/admin/locks", asUser()), 403, "FORBIDDEN");
  expectProblem(client.request("DELETE", "/admin/locks", service->as("admin")), 405,
                "METHOD_NOT_ALLOWED");
}

TEST_F(LockAdminTest, ShowsHoldersAndWaitersOfThisInstanceWhileTheyAreThere) {
  Background background;
  background.send(service->port(), pausing(council, 5000));
  ASSERT_TRUE(eventually([&] { return countOf(locksOf(*service), "holding") == 1; }));
  for (int i = 0; i < 2; ++i) background.send(service->port(), council);
  Json::Value locks;
  ASSERT_TRUE(eventually([&] {
    locks = locksOf(*service);
    return countOf(locks, "holding") == 1 && countOf(locks, "waiting") == 2;
  }));
  EXPECT_EQ(locks["waiting"]["memory"].asInt(), 2);
  EXPECT_FALSE(locks["truncated"].asBool());
  EXPECT_EQ(locks["fleet"], Json::Value(Json::arrayValue)) << "no Redis is configured";
  for (const auto& row : locks["instance"]) {
    EXPECT_EQ(row["lockable"].asString(), "announcement-pins");
    EXPECT_EQ(row["strategy"].asString(), "memory");
    EXPECT_EQ(row["key"].asString(), "announcement:" + std::to_string(festival));
    EXPECT_GE(row["ms"].asInt64(), 0);
    EXPECT_LT(row["ms"].asInt64(), 20'000);
    EXPECT_EQ(row.isMember("fence"), row["state"].asString() == "holding");
    if (row.isMember("fence")) {
      EXPECT_GT(row["fence"].asInt64(), std::int64_t{1} << 32);
    }
  }
  background.wait();
  const auto after = locksOf(*service);
  EXPECT_TRUE(after["instance"].empty());
  EXPECT_EQ(after["waiting"]["memory"].asInt(), 0);
}

TEST_F(LockAdminTest, ShowsWritesThatTakeNoLockWithoutAFence) {
  Background background;
  auto headers = pausing(council);
  headers["X-Concurrency"] = "pg-row";
  background.send(service->port(), headers);
  Json::Value locks;
  ASSERT_TRUE(eventually([&] {
    locks = locksOf(*service);
    return countOf(locks, "holding") == 1;
  }));
  EXPECT_EQ(locks["instance"][0]["strategy"].asString(), "pg-row");
  EXPECT_FALSE(locks["instance"][0].isMember("fence"));
}

TEST_F(FleetTest, ShowsWhatAnotherInstanceHolds) {
  const auto one = startService();
  const auto other = startService();
  Background background;
  background.send(other->port(), pausing(other->newFestival(), 6000));
  const auto key = "announcement:" + std::to_string(other->lastFestival());
  Json::Value locks;
  ASSERT_TRUE(eventually([&] {
    locks = locksOf(*one);
    return !holdIn(locks, key).isNull();
  }));
  EXPECT_TRUE(locks["instance"].empty());
  const auto hold = holdIn(locks, key);
  EXPECT_EQ(hold["storage"].asString(), "redis-spin");
  EXPECT_FALSE(hold["owner"].asString().empty());
  EXPECT_GT(hold["remainingMs"].asInt64(), 0);
  EXPECT_LE(hold["remainingMs"].asInt64(),
            std::stoll(patient().at("LOCK_LOCKABLES_ANNOUNCEMENT_PINS_LEASE_MS")));
  EXPECT_FALSE(hold.isMember("waiters"));
  other->tellToStop();  // ends the pause; the holder finishes
  background.wait();
  // Its lease is longer than that.
  EXPECT_TRUE(eventually([&] { return locksOf(*one)["fleet"].empty(); })) << "it was not released";
}

TEST_F(FleetTest, KeysAndOwnersOfAnyBytesStayJson) {
  using namespace std::string_literals;
  const auto service = startService();
  plant("festabook:spin:hold:"s + "\xff\xc3("s + '\0' + "\"\\\n{},:", "o\xfe\"\x01");
  plant("festabook:pubsub:hold:축제:hold:🎉");
  plant("festabook:fair:hold:");
  const auto locks = locksOf(*service);
  ASSERT_EQ(locks["fleet"].size(), 3U);
  const auto odd = holdIn(locks, "\uFFFD\uFFFD("s + '\0' + "\"\\\n{},:");
  EXPECT_EQ(odd["owner"].asString(), "o\uFFFD\"\x01");
  EXPECT_FALSE(holdIn(locks, "축제:hold:🎉").isNull());
  EXPECT_EQ(holdIn(locks, "")["storage"].asString(), "redis-fair");
}

TEST_F(FleetTest, HoldsHaveTheNameOfTheirStorage) {
  const auto service = startService();
  for (const auto& row : lock::storageTable())
    if (row.needs == lock::Servers::kRedis)
      plant(std::string("festabook:") + row.keys + ":hold:" + row.name);
  plant("festabook:later:hold:of a newer version");
  const auto locks = locksOf(*service);
  for (const auto& row : lock::storageTable())
    if (row.needs == lock::Servers::kRedis) {
      EXPECT_EQ(holdIn(locks, row.name)["storage"].asString(), row.name);
    }
  EXPECT_EQ(holdIn(locks, "of a newer version")["storage"].asString(), "later");
}

TEST_F(FleetTest, OnlyHoldsAreListed) {
  const auto service = startService();
  plant("festabook:spin:hold:mine");
  redis_.command({"SET", "festabook:spin:hold:for ever", "somebody"});
  redis_.command({"RPUSH", "festabook:spin:hold:a list", "x"});
  plant("festabook:spin:fence");
  plant("festabook:hold:no storage");
  plant("festabook:other:spin:hold:another prefix");
  plant("another:spin:hold:another prefix");
  const auto locks = locksOf(*service);
  EXPECT_EQ(locks["fleet"].size(), 2U) << locks;
  EXPECT_GT(holdIn(locks, "mine")["remainingMs"].asInt64(), 0);
  EXPECT_TRUE(holdIn(locks, "for ever").isMember("remainingMs"));
  EXPECT_TRUE(holdIn(locks, "for ever")["remainingMs"].isNull());
  EXPECT_FALSE(locks["truncated"].asBool());
}

TEST_F(FleetTest, AStorageThatKeepsALineShowsItsLength) {
  const auto service = startService();
  plant("festabook:fair:hold:k");
  redis_.command({"ZADD", "festabook:fair:line:k", "1", "a", "2", "b"});
  plant("festabook:fair:hold:odd");
  redis_.command({"SET", "festabook:fair:line:odd", "not a line"});
  const auto locks = locksOf(*service);
  EXPECT_EQ(holdIn(locks, "k")["waiters"].asInt(), 2);
  EXPECT_FALSE(holdIn(locks, "odd").isMember("waiters"));
}

TEST_F(FleetTest, APrefixIsNoPattern) {
  const std::string prefix = R"(a*[b]?\)";
  const auto service = startService({{"REDIS_PREFIX", prefix}});
  plant(prefix + ":spin:hold:ours");
  plant("axbx:spin:hold:not ours");
  plant("axxb?\\:spin:hold:not ours");
  const auto locks = locksOf(*service);
  ASSERT_EQ(locks["fleet"].size(), 1U) << locks;
  EXPECT_EQ(locks["fleet"][0]["key"].asString(), "ours");
  EXPECT_EQ(locks["fleet"][0]["storage"].asString(), "redis-spin");
}

TEST_F(FleetTest, BeyondAThousandTheAnswerSaysThatItIsCut) {
  const auto service = startService();
  const auto plantMany = [this](const std::string& from, const std::string& to) {
    redis_.command({"EVAL",
                    "for i = ARGV[1], ARGV[2] do redis.call('SET', 'festabook:spin:hold:' .. i, "
                    "'o', 'PX', 60000) redis.call('SET', 'noise:' .. i, 'x') end",
                    "0", from, to});
  };
  plantMany("1", "1000");
  auto locks = locksOf(*service);
  EXPECT_EQ(locks["fleet"].size(), 1000U);
  EXPECT_FALSE(locks["truncated"].asBool());
  plantMany("1001", "3000");
  locks = locksOf(*service);
  EXPECT_EQ(locks["fleet"].size(), 1000U);
  EXPECT_TRUE(locks["truncated"].asBool());
}

TEST_F(FleetTest, WithoutRedisTheInstancesPartIsStillThere) {
  // A look at a Redis that is away takes this long, and some have to fit into the pause.
  const auto service = startService({{"REDIS_TIMEOUT_MS", "300"}});
  redis_.kill();
  Background background;
  auto headers = pausing(service->newFestival());
  headers["X-Concurrency"] = "memory";
  background.send(service->port(), headers);
  Json::Value locks;
  EXPECT_TRUE(eventually([&] {
    locks = locksOf(*service);
    return countOf(locks, "holding") == 1;
  }));
  EXPECT_TRUE(locks["fleet"].isNull());
  background.wait();
  redis_.start();
  EXPECT_TRUE(eventually([&] { return locksOf(*service)["fleet"].isArray(); }));
}

}  // namespace festa::test
