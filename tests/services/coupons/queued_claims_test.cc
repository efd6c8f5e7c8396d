#include "services/coupons/queued_claims.h"

#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

#include <future>

namespace festa::test {

namespace {

// Coupon 1 with a stock of 70; users 1 … 150.
class QueuedClaimsTest : public DatabaseFixture {
 protected:
  QueuedClaimsTest() {
    session_.run(
        "INSERT INTO coupons (name, stock, remaining, one_per_user) VALUES ('c', 70, 70, false)");
    session_.run(
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " SELECT 'u' || n, '', 'n', 20, 'e', 'p' FROM generate_series(1, 150) AS n");
  }

  // They get the ids 1 … count.
  void haveClaims(int count) {
    session_.run(
        "INSERT INTO coupon_claims (coupon_id, user_id, state, one_per_user, queue)"
        " SELECT 1, n, 'NEW', false, 'q' FROM generate_series(1, " +
        std::to_string(count) + ") AS n");
  }

  bool admit(std::int64_t id) {
    return run([&]() -> drogon::Task<bool> { co_return co_await claims_.admit(id); });
  }

  const TestDatabase database_{db_};
  const QueuedClaims claims_{database_, {.queue = "q"}, nullptr};
};

}  // namespace

TEST_F(QueuedClaimsTest, TheOldestAreDecidedFirstHoweverManyWait) {
  haveClaims(150);
  EXPECT_TRUE(admit(1));
  EXPECT_EQ(one("SELECT max(id) FROM coupon_claims WHERE state <> 'NEW'"), "64");
  EXPECT_FALSE(admit(150));
  EXPECT_EQ(one("SELECT count(*) FROM coupon_claims WHERE sequence IS DISTINCT FROM"
                " CASE WHEN id <= 70 THEN id END"),
            "0");
  EXPECT_EQ(one("SELECT count(*) FROM coupon_claims WHERE code = 'COUPON_SOLD_OUT'"), "80");
  EXPECT_EQ(one("SELECT granted || ' ' || remaining FROM coupons"), "70 0");
}

// The other one is frozen between its statement and its commit, and a second one has taken over.
TEST_F(QueuedClaimsTest, ADeciderWaitsForAnotherAndCountsNothingTwice) {
  haveClaims(10);
  PgSession other(where_);
  other.run("BEGIN");
  other.run("UPDATE coupons SET granted = granted + 10, remaining = remaining - 10");
  other.run("UPDATE coupon_claims SET state = 'PROCESSED', sequence = id");
  auto admitted = std::async(std::launch::async, [&] { return admit(10); });
  EXPECT_TRUE(eventually([&] {
    return one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
               " AND wait_event_type = 'Lock'") == "1";
  }));
  other.run("COMMIT");
  EXPECT_TRUE(admitted.get());
  EXPECT_EQ(one("SELECT granted || ' ' || remaining FROM coupons"), "10 60");
  EXPECT_EQ(one("SELECT count(DISTINCT sequence) FROM coupon_claims"), "10");
}

}  // namespace festa::test
