// A stock smaller than the crowd, by every strategy, on one instance and on three.
#include "tests/support/http/crowd.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/size.h"
#include "tests/support/stall_watch.h"

#include <set>

namespace festa::test {

namespace {

constexpr int kConnections = 32;
constexpr int kClicks = 5;  // of every user, at once
const int kUsers = kSanitized ? 30 : sized(120, 1000);
const int kStock = kUsers / 2;
const std::string kUnknown = "500 COMMIT_UNCONFIRMED";

struct Outcome {
  std::map<std::string, int> answers;
  std::set<int> told;     // users who were told that they have one
  std::set<int> unsure;   // users who were told that it is not known
  std::set<int> holders;  // users who have one
  std::string errors;     // what the service wrote about them
  std::int64_t claims;
  std::int64_t users;
  std::int64_t sequences;  // different ones
  std::int64_t last;       // the largest
  std::int64_t remaining;
  StallWatch::Clock::duration stall;  // of the machine, meanwhile
};

// The users whose answers are among these.
std::set<int> usersWith(const std::vector<Response>& answers, int status) {
  std::set<int> users;
  for (std::size_t i = 0; i < answers.size(); ++i)
    if (answers[i].status == status) users.insert(static_cast<int>(i) / kClicks + 1);
  return users;
}

std::set<int> holdersOf(const Config::Database& database, std::int64_t coupon) {
  std::set<int> users;
  for (const auto& row :
       PgSession(database).query("SELECT user_id FROM coupon_claims WHERE coupon_id = $1::bigint",
                                 {std::to_string(coupon)}))
    users.insert(std::stoi(*row[0]));
  return users;
}

Outcome rushOn(const Service& service, const std::vector<int>& ports, const Headers& protection,
               bool onePerUser = true) {
  const StallWatch watch;
  const Sales sales(service.database());
  sales.haveUsers(kUsers);
  const auto coupon = sales.coupon(kStock, onePerUser);
  const auto path = "/coupons/" + std::to_string(coupon) + "/claims";
  const auto answers =
      crowdOf(ports, kConnections, kUsers * kClicks, [&](HttpClient& client, int index) {
        // The clicks of one user follow each other, so that they are under way together. Who comes
        // back after a 503 must not get two.
        return untilServed([&] {
          return client.request("POST", path, joined(Sales::as(index / kClicks + 1), protection));
        });
      });
  const auto count = [&](const std::string& what) {
    return sales.number("SELECT " + what + " FROM coupon_claims WHERE coupon_id = $1::bigint",
                        coupon);
  };
  return {countByCode(answers),
          usersWith(answers, 201),
          usersWith(answers, 500),
          holdersOf(service.database(), coupon),
          service.errors(),
          count("count(*)"),
          count("count(DISTINCT user_id)"),
          count("count(DISTINCT sequence)"),
          count("coalesce(max(sequence), 0)"),
          sales.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon),
          watch.longest()};
}

// Every user who was told of a claim has one, and every user with one was told, or told that it is
// not known.
void expectTheStockAndTrueAnswers(const Outcome& outcome) {
  EXPECT_EQ(outcome.claims, kStock);
  EXPECT_EQ(outcome.users, kStock) << "a user has two";
  EXPECT_EQ(outcome.sequences, kStock);
  EXPECT_EQ(outcome.last, kStock) << "there is a gap";
  EXPECT_EQ(outcome.remaining, 0);
  auto answers = outcome.answers;
  EXPECT_EQ(answers["201"], static_cast<int>(outcome.told.size())) << "a user was told of two";
  for (const int user : outcome.told)
    EXPECT_TRUE(outcome.holders.contains(user)) << "user " << user << " has none";
  for (const int user : outcome.holders)
    EXPECT_TRUE(outcome.told.contains(user) || outcome.unsure.contains(user))
        << "user " << user << " was not told";
  for (const auto& expected : {std::string("201"), std::string("409 ALREADY_CLAIMED"),
                               std::string("409 COUPON_SOLD_OUT"), kUnknown})
    answers.erase(expected);
  EXPECT_TRUE(answers.empty()) << answers.begin()->first << " × " << answers.begin()->second << '\n'
                               << outcome.errors;
}

int unknownIn(const Outcome& outcome) {
  const auto found = outcome.answers.find(kUnknown);
  return found == outcome.answers.end() ? 0 : found->second;
}

// Everybody knows, too.
void expectExactlyTheStock(const Outcome& outcome) {
  expectTheStockAndTrueAnswers(outcome);
  EXPECT_EQ(unknownIn(outcome), 0) << outcome.errors;
}

class CouponRush : public testing::TestWithParam<Protection> {
 protected:
  static void SetUpTestSuite() {
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), patient(labSettings()));
  }
  static void TearDownTestSuite() { lab_.reset(); }

  static inline std::unique_ptr<Service> lab_;
};

}  // namespace

TEST_P(CouponRush, GrantsTheStockInOneSequenceAndEachUserOnce) {
  expectExactlyTheStock(rushOn(*lab_, {lab_->port()}, GetParam().headers));
}

INSTANTIATE_TEST_SUITE_P(Alone, CouponRush, testing::ValuesIn(eachAlone()), nameOfProtection);
INSTANTIATE_TEST_SUITE_P(WithBackstop, CouponRush,
                         testing::Values(Protection{"AsConfigured", {}}, withBackstop("none"),
                                         withBackstop("pg-version")),
                         nameOfProtection);

// The control: without protection more is given than there is, or a user gets two.
TEST_F(CouponRush, WithoutProtectionTheStockIsOversold) {
  bool seen = false;
  for (int round = 0; round < 20 && !seen; ++round) {
    const auto outcome = rushOn(*lab_, {lab_->port()}, {{"X-Concurrency", "none"}}, false);
    seen = outcome.claims > kStock || outcome.sequences < outcome.claims;
  }
  EXPECT_TRUE(seen) << "the test is blind";
}

namespace {

Service::Settings settingsOfThree() {
  auto settings = labSettings();
  settings["DATABASE_CONNECTIONS"] = "16";
  settings["REDIS_TIMEOUT_MS"] = "1500";
  return ofSeveral(settings);
}

// Without a fence it cannot be found out what became of a statement whose answer is late. The
// shortest patience is 1.4 s; on a machine that stands still for half of it, an answer may be late.
bool mayBeUnknown(const Outcome& outcome) {
  return outcome.stall > std::chrono::milliseconds(700);
}

}  // namespace

TEST(ThreeCouponCounters, GrantOneSequenceByEverySharedStrategyAlone) {
  const auto settings = settingsOfThree();
  const auto database = sharedPg().createDatabase();
  std::vector<std::unique_ptr<Service>> instances;
  std::vector<int> ports;
  for (int i = 0; i < 3; ++i) {
    instances.push_back(std::make_unique<Service>(database, settings));
    ports.push_back(instances.back()->port());
  }
  for (const auto& protection : eachAlone(true)) {
    SCOPED_TRACE(protection.name);
    auto outcome = rushOn(*instances[0], ports, protection.headers);
    for (int round = 1; unknownIn(outcome) > 0 && mayBeUnknown(outcome) && round < 5; ++round) {
      expectTheStockAndTrueAnswers(outcome);
      outcome = rushOn(*instances[0], ports, protection.headers);
    }
    expectExactlyTheStock(outcome);
  }
  bool seen = false;
  for (int round = 0; round < 20 && !seen; ++round) {
    const auto outcome = rushOn(*instances[0], ports, {{"X-Concurrency", "memory"}}, false);
    seen = outcome.claims > kStock || outcome.sequences < outcome.claims;
  }
  EXPECT_TRUE(seen) << "the test is blind";
}

}  // namespace festa::test
