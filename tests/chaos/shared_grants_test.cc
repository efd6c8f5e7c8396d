// Claims of one coupon that are granted together, on three instances with their lock on one Redis,
// while instances are killed, sessions end, and Redis forgets or is away.
#include "tests/support/history/history.h"
#include "tests/support/http/sales.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/sessions.h"
#include "tests/support/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace festa::test {

namespace {

using testing::IsEmpty;

constexpr std::size_t kInstances = 3;
constexpr std::size_t kClients = 48;
const int kStock = sized(2400, 20'000);
const std::string kSoldOut = "COUPON_SOLD_OUT";
const std::string kUnknown = "COMMIT_UNCONFIRMED";

// Three instances and a coupon.
class SharedGrants : public testing::TestWithParam<std::string> {
 protected:
  void start(Service::Settings settings) {
    settings.insert({{"REDIS_HOST", "127.0.0.1"},
                     {"REDIS_PORT", std::to_string(redis_.port())},
                     {"LOCK_STRATEGY", GetParam()}});
    settings_ = std::move(settings);
    for (std::size_t i = 0; i < kInstances; ++i) startInstance(i);
  }
  void startInstance(std::size_t i) {
    instances_[i] = std::make_unique<Service>(database_, settings_);
    ports_[i] = instances_[i]->port();
  }
  std::int64_t count(const std::string& what, std::int64_t coupon) const {
    return sales_.number("SELECT " + what + " FROM coupon_claims WHERE coupon_id = $1::bigint",
                         coupon);
  }
  // Claims that were granted in one transaction with others: they have the same fence, and a place
  // each.
  std::int64_t sharedClaims(std::int64_t coupon) const {
    return sales_.number(
        "SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM coupon_claims"
        " WHERE coupon_id = $1::bigint GROUP BY fence"
        " HAVING count(*) > 1 AND count(*) = count(DISTINCT ordinal)) AS together",
        coupon);
  }
  static std::string pathOf(std::int64_t coupon) {
    return "/coupons/" + std::to_string(coupon) + "/claims";
  }

  RedisServer redis_;
  const Config::Database database_ = sharedPg().createDatabase();
  const Sales sales_{database_};
  Service::Settings settings_;
  std::array<std::unique_ptr<Service>, kInstances> instances_;
  std::array<std::atomic<int>, kInstances> ports_ = {};
};

// Clients of all instances that claim until the coupon is sold out. User n claims once: its row
// tells which request stored it. A 503 says that nothing was stored, and the client asks again; so
// does one with an Idempotency-Key (every second) until it knows its outcome.
class Claimants {
 public:
  Claimants(const std::array<std::atomic<int>, kInstances>& ports, std::string path)
      : ports_(ports), path_(std::move(path)) {
    for (std::size_t i = 0; i < kClients; ++i)
      threads_.emplace_back([this, i] {
        while (!isOver_) claim(i % kInstances, ++last_);
      });
  }
  ~Claimants() {
    isOver_ = true;
    join();
  }
  Claimants(const Claimants&) = delete;
  Claimants& operator=(const Claimants&) = delete;

  void join() {
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }
  int granted() const { return granted_; }
  int last() const { return last_; }
  bool isSoldOut() const { return isSoldOut_; }
  // After join().
  History& history() { return history_; }
  int unknown() const { return unknown_; }
  // Answers that no client should get.
  const std::set<std::string>& wrong() const { return wrong_; }

 private:
  void claim(std::size_t instance, int n) {
    auto headers = Sales::as(n);
    const bool isKeyed = n % 2 == 0;
    if (isKeyed) headers["Idempotency-Key"] = "claim-" + std::to_string(n);
    Response answer;
    const bool isSettled = eventually(
        [&] {
          answer = HttpClient(ports_[instance]).request("POST", path_, headers);
          if (answer.status == 0) awaitInstance(instance);
          const bool isOpen = answer.status == 0 || answer.code() == kUnknown;
          return answer.status != 503 && answer.code() != "REQUEST_IN_PROGRESS" &&
                 !(isKeyed && isOpen);
        },
        std::chrono::seconds(60));
    record(n, answer, isSettled);
  }
  void awaitInstance(std::size_t instance) const {
    eventually([&] { return HttpClient(ports_[instance]).get("/healthz").status == 200; });
  }
  void record(int n, const Response& answer, bool isSettled) {
    const auto who = "claim-" + std::to_string(n);
    if (answer.status == 201) {
      const auto body = answer.json();
      history_.answered(who, 201, body["claimId"].asString() + '/' + body["sequence"].asString());
      ++granted_;
      return;
    }
    history_.answered(who, answer.status, "");
    if (answer.code() == kSoldOut) {
      isSoldOut_ = true;
      isOver_ = true;
      return;
    }
    if (isSettled && (answer.status == 0 || answer.code() == kUnknown)) {
      ++unknown_;
      return;
    }
    const std::lock_guard guard(mutex_);
    wrong_.insert(std::to_string(answer.status) + answer.body);
  }

  const std::array<std::atomic<int>, kInstances>& ports_;
  const std::string path_;
  History history_;
  std::atomic<bool> isOver_{false};
  std::atomic<bool> isSoldOut_{false};
  std::atomic<int> last_{0};
  std::atomic<int> granted_{0};
  std::atomic<int> unknown_{0};
  std::mutex mutex_;
  std::set<std::string> wrong_;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

class SharedGrantsUnderFaults : public SharedGrants {
 protected:
  // Those that work at this moment; sooner or later there are some.
  void endSessions() {
    EXPECT_TRUE(eventually([&] {
      return !PgSession(database_)
                  .query(
                      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                      " WHERE state = 'active' AND " +
                      kOfTheService)
                  .empty();
    })) << "no session worked";
  }
  void restartInstance(std::size_t i) {
    instances_[i]->kill();
    startInstance(i);
  }
  void restartRedis() {
    redis_.kill();
    redis_.start();
  }
  void injectFault(int number) {
    switch (number % 6) {
      case 0:
      case 3: return endSessions();
      case 1: return restartInstance(static_cast<std::size_t>(number / 6) % kInstances);
      case 2:
      case 5: redis_.command({"FLUSHALL"}); return;
      default: return restartRedis();
    }
  }

  // Every 201 has its row with its number, every row its 201, or a client that does not know.
  void expectTruth(Claimants& claimants, std::int64_t coupon) {
    auto& history = claimants.history();
    for (const auto& row : PgSession(database_).query(
             "SELECT id || '/' || sequence, user_id FROM coupon_claims WHERE coupon_id = "
             "$1::bigint",
             {std::to_string(coupon)}))
      history.committed("row of " + *row[0], "claim-" + *row[1], 0, *row[0], {}, {});
    EXPECT_THAT(history.check({.unknown = {0, 500}}), IsEmpty());
    EXPECT_THAT(claimants.wrong(), IsEmpty());
    EXPECT_LT(claimants.unknown(), kStock / 10) << "too many to prove anything";
  }
  void expectTheStockInOneSequence(std::int64_t coupon) const {
    EXPECT_EQ(count("count(*)", coupon), kStock);
    EXPECT_EQ(count("count(DISTINCT sequence)", coupon), kStock);
    EXPECT_EQ(count("max(sequence)", coupon), kStock);
    EXPECT_EQ(sales_.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon), 0);
    // Numbers follow the fences, and inside a transaction the places in line.
    EXPECT_EQ(sales_.number("SELECT count(*) FROM (SELECT sequence, row_number() OVER (ORDER BY"
                            " fence, coalesce(ordinal, 0)) AS place FROM coupon_claims"
                            " WHERE coupon_id = $1::bigint) AS c WHERE sequence <> place",
                            coupon),
              0);
  }
};

class SharedGrantsInOrder : public SharedGrants {
 protected:
  // The first claim may wait for 5 s inside the database, and its lease is longer.
  static Service::Settings unhurried() {
    Service::Settings settings;
    for (const std::string name : {"POOL", "LOCK", "STATEMENT", "COMMIT"})
      settings["DATABASE_" + name + "_TIMEOUT_MS"] = "5000";
    for (const std::string name :
         {"ANNOUNCEMENT_PINS", "QUESTIONS", "EVENT_DATES", "SEATS", "COUPONS"})
      settings["LOCK_LOCKABLES_" + name + "_LEASE_MS"] = "60000";
    return settings;
  }
  // Sends one claim and waits until it stands in line.
  void arrive(std::size_t instance, int user, std::int64_t coupon) {
    ++sent_[instance];
    claims_.push_back(std::async(std::launch::async, [this, instance, user, coupon] {
      auto answer = instances_[instance]->client().request("POST", pathOf(coupon), Sales::as(user));
      ++answered_[instance];
      return answer;
    }));
    ASSERT_TRUE(eventually([&] {
      const int locked =
          instances_[instance]->locked("waiting") + instances_[instance]->locked("holding");
      return locked + answered_[instance] >= sent_[instance] && hasPlaceOnTheServer();
    }));
  }
  // Where the order counts across instances, the server knows all but the first, who did not wait.
  bool hasPlaceOnTheServer() const {
    if (findStrategy(GetParam())->order != lock::Order::kOverall) return true;
    const std::string keys = findStrategy(GetParam())->storage->keys;
    const auto arrivals = redis_.command({"GET", "festabook:" + keys + ":arrivals"});
    const auto places = arrivals.empty() ? 0 : std::stoul(arrivals);
    return places + 1 >= claims_.size();
  }
  std::vector<int> usersInOrder(std::int64_t coupon) const {
    std::vector<int> users;
    for (const auto& row :
         PgSession(database_).query("SELECT user_id FROM coupon_claims WHERE coupon_id = $1::bigint"
                                    " ORDER BY sequence",
                                    {std::to_string(coupon)}))
      users.push_back(std::stoi(*row[0]));
    return users;
  }
  // Only the users of one instance.
  static std::vector<int> of(std::size_t instance, const std::vector<int>& users) {
    std::vector<int> some;
    for (const int user : users)
      if (instanceOf(user) == instance) some.push_back(user);
    return some;
  }
  // Neighbours are of one instance, so that they may hold the key together.
  static std::size_t instanceOf(int user) {
    return static_cast<std::size_t>(user) / 4 % kInstances;
  }

  std::array<int, kInstances> sent_ = {};
  std::array<std::atomic<int>, kInstances> answered_ = {};
  std::vector<std::future<Response>> claims_;
};

bool sharesOnOneRedis(const StrategyRow& row) {
  return row.needs == Needs::kRedis && row.storage->sharesHolds;
}

const auto kStrategies = testing::ValuesIn(strategyNames(sharesOnOneRedis));
const auto kNames = [](const auto& strategy) { return inTestName(strategy.param); };

}  // namespace

TEST_P(SharedGrantsUnderFaults, GiveTheStockOnceAndTellEveryClientTheTruth) {
  start(ofSeveral({{"DATABASE_CONNECTIONS", "16"}, {"IDEMPOTENCY_CLAIM_MS", "2000"}}));
  sales_.haveUsers(2 * kStock);
  const auto coupon = sales_.coupon(kStock, false);
  Claimants claimants(ports_, pathOf(coupon));
  const int faults = sized(6, 36);
  for (int fault = 0; fault < faults; ++fault) {
    const int due = kStock * (fault + 1) / (faults + 1);
    ASSERT_TRUE(eventually([&] { return claimants.granted() >= due || claimants.isSoldOut(); },
                           std::chrono::seconds(90)))
        << "no grants after fault " << fault;
    ASSERT_FALSE(claimants.isSoldOut()) << "before fault " << fault;
    injectFault(fault);
  }
  claimants.join();
  ASSERT_LE(claimants.last(), 2 * kStock) << "there were not enough users";
  expectTheStockInOneSequence(coupon);
  expectTruth(claimants, coupon);
  EXPECT_GT(sharedClaims(coupon), kStock / 10) << "they were not granted together";
  for (auto& instance : instances_) instance->stop();
}

INSTANTIATE_TEST_SUITE_P(OnRedis, SharedGrantsUnderFaults, kStrategies, kNames);

// The first one waits inside the database for a claim of its user that is not committed, with the
// key; the others stand in line behind it.
TEST_P(SharedGrantsInOrder, FollowTheOrderOfArrival) {
  start(unhurried());
  constexpr int kUsers = 16;
  const auto coupon = sales_.coupon(kUsers, true);
  PgSession rival(database_);
  rival.run(Sales::openClaims(coupon, 1, 1));
  std::vector<int> arrived;
  for (int user = 1; user <= kUsers; ++user) {
    ASSERT_NO_FATAL_FAILURE(arrive(instanceOf(user), user, coupon));
    arrived.push_back(user);
  }
  rival.run("ROLLBACK");
  for (auto& claim : claims_) {
    const auto answer = claim.get();
    EXPECT_EQ(answer.status, 201) << answer.body;
  }
  const auto granted = usersInOrder(coupon);
  for (std::size_t i = 0; i < kInstances; ++i) EXPECT_EQ(of(i, granted), of(i, arrived));
  if (findStrategy(GetParam())->order == lock::Order::kOverall) {
    EXPECT_EQ(granted, arrived);
  }
  EXPECT_GT(sharedClaims(coupon), 0) << "they were not granted together";
}

INSTANTIATE_TEST_SUITE_P(OnRedis, SharedGrantsInOrder, kStrategies, kNames);

// The control: what tells that claims were granted together can tell that they were not.
TEST_P(SharedGrants, AreEachAloneWhereTheLockIsNotShared) {
  start(patient({{"LOCK_LOCKABLES_COUPONS_TOGETHER", "1"}}));
  const auto coupon = sales_.coupon(60, false);
  sales_.haveUsers(200);
  Claimants claimants(ports_, pathOf(coupon));
  claimants.join();
  EXPECT_EQ(count("count(*)", coupon), 60);
  EXPECT_EQ(sharedClaims(coupon), 0);
}

INSTANTIATE_TEST_SUITE_P(OnRedis, SharedGrants, kStrategies, kNames);

}  // namespace festa::test
