// A stock smaller than the crowd, by every strategy, on one instance and on three.
#include "tests/support/crowd.h"
#include "tests/support/rush.h"
#include "tests/support/sales.h"
#include "tests/support/size.h"
#include "tests/support/strategy_cases.h"

namespace festa::test {

namespace {

constexpr int kConnections = 32;
constexpr int kClicks = 5;  // of every user, at once
const int kUsers = kSanitized ? 30 : sized(120, 1000);
const int kStock = kUsers / 2;

struct Outcome {
  std::map<std::string, int> answers;
  std::string errors;  // what the service wrote about them
  std::int64_t claims;
  std::int64_t users;
  std::int64_t sequences;  // different ones
  std::int64_t last;       // the largest
  std::int64_t remaining;
};

Outcome rushOn(const Service& service, const std::vector<int>& ports, const Headers& protection,
               bool onePerUser = true) {
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
          service.errors(),
          count("count(*)"),
          count("count(DISTINCT user_id)"),
          count("count(DISTINCT sequence)"),
          count("coalesce(max(sequence), 0)"),
          sales.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon)};
}

// `mostUnknown`: how many clients may not know whether they have one.
void expectExactlyTheStock(const Outcome& outcome, int mostUnknown = 0) {
  EXPECT_EQ(outcome.claims, kStock);
  EXPECT_EQ(outcome.users, kStock) << "a user has two";
  EXPECT_EQ(outcome.sequences, kStock);
  EXPECT_EQ(outcome.last, kStock) << "there is a gap";
  EXPECT_EQ(outcome.remaining, 0);
  auto answers = outcome.answers;
  const int unknown = answers["500 COMMIT_UNCONFIRMED"];
  EXPECT_LE(unknown, mostUnknown) << outcome.errors;
  EXPECT_LE(answers["201"], kStock);
  EXPECT_GE(answers["201"] + unknown, kStock);
  for (const auto* expected :
       {"201", "409 ALREADY_CLAIMED", "409 COUPON_SOLD_OUT", "500 COMMIT_UNCONFIRMED"})
    answers.erase(expected);
  EXPECT_TRUE(answers.empty()) << answers.begin()->first << " × " << answers.begin()->second << '\n'
                               << outcome.errors;
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

// The longest leases for which redis-fair grants the key ahead to another process, and time-outs as
// long as they allow: 1500 + 6 × 220 + 1400 ms are less than the 4323 that a holder has.
Service::Settings settingsOfThree() {
  auto settings = labSettings();
  settings["DATABASE_CONNECTIONS"] = "16";
  settings["DATABASE_POOL_TIMEOUT_MS"] = "1500";
  settings["DATABASE_COMMIT_TIMEOUT_MS"] = "1400";
  settings["REDIS_TIMEOUT_MS"] = "1500";
  for (const std::string name :
       {"ANNOUNCEMENT_PINS", "QUESTIONS", "EVENT_DATES", "SEATS", "COUPONS"})
    settings["LOCK_LOCKABLES_" + name + "_LEASE_MS"] = "5000";
  return settings;
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
    // Without a fence it is not known what became of a statement whose answer does not come in
    // time. There are few of them, or the answers prove nothing.
    expectExactlyTheStock(rushOn(*instances[0], ports, protection.headers), kStock / 2);
  }
  bool seen = false;
  for (int round = 0; round < 20 && !seen; ++round) {
    const auto outcome = rushOn(*instances[0], ports, {{"X-Concurrency", "memory"}}, false);
    seen = outcome.claims > kStock || outcome.sequences < outcome.claims;
  }
  EXPECT_TRUE(seen) << "the test is blind";
}

}  // namespace festa::test
