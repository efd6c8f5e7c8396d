#include "services/write/guarded_write.h"

#include "services/seats/reservation_service.h"
#include "tests/services/database_fixture.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/test_guard.h"

#include <deque>

namespace festa::test {

namespace {

using std::chrono::steady_clock;

drogon::Task<std::optional<std::int64_t>> answer(std::optional<std::int64_t> value) {
  co_return value;
}

// A seat as the row, its sale as the statement.
struct KeepingReceipt : public Receipt<Reservation> {
  drogon::Task<> keep(Sql& sql, const Reservation& reservation) const override {
    co_await sql.execSqlCoro("INSERT INTO receipts VALUES ($1)", reservation.id);
  }
};

struct RefusingReceipt : public Receipt<Reservation> {
  drogon::Task<> keep(Sql&, const Reservation&) const override {
    throw ServiceError(ErrorCode::kRequestInProgress);
    co_return;
  }
};

class GuardedStatementTest : public DatabaseFixture {
 protected:
  GuardedStatementTest() {
    session_.run("INSERT INTO places (name, location, max_seat) VALUES ('p', 'l', 10)");
    session_.run(
        "INSERT INTO performances (place_id, category, start_at, end_at, start_reservation_at,"
        " end_reservation_at, title, content, acting, film_rating, price) VALUES (1, 'PLAY',"
        " now(), now(), now() - interval '1 day', now() + interval '1 day', 't', 'c', 'a', 'ALL', "
        "0)");
    session_.run("INSERT INTO seats (performance_id, location, number) VALUES (1, 'A', 1)");
    session_.run(
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " SELECT 'u' || n, '', 'n', 20, 'e', 'p' FROM generate_series(1, 2) AS n");
  }

  // Lives as long as the test: its coroutines refer to it.
  const ReservationService& service(const drogon::orm::DbClientPtr& db) {
    const auto& database = testDatabase(db);
    auto& batches = keptForever(std::make_unique<SaleBatches>(database, BatchLimits{1, 1}));
    return services_.emplace_back(database, sold_, batches);
  }
  Reservation reserve(const TestGuard& guard, std::int64_t user = 1,
                      const Receipt<Reservation>* receipt = nullptr) {
    return run([&] { return service(db_).reserve(kSeat, user, guard, receipt); });
  }
  ErrorCode errorOf(const TestGuard& guard, std::int64_t user = 1) {
    try {
      reserve(guard, user);
    } catch (const ServiceError& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  }

  static TestGuard locked(std::int64_t token) {
    TestGuard guard;
    guard.fence = token;
    guard.renewFence = [](std::int64_t above) { return answer(above + 1); };
    guard.validUntil = until(steady_clock::now() + std::chrono::seconds(15));
    return guard;
  }
  static TestGuard overtaken(std::int64_t token) {
    auto guard = locked(token);
    guard.renewFence = [](std::int64_t) { return answer(std::nullopt); };
    return guard;
  }

  std::string fence() { return one("SELECT fence FROM seats"); }
  std::string sales() { return one("SELECT count(*) FROM reservations"); }

  static inline const SeatRef kSeat{1, "A", 1};
  SoldSeats sold_{100};
  std::deque<ReservationService> services_;
};

}  // namespace

TEST_F(GuardedStatementTest, TheTokenIsStoredWithTheSaleAndTheViewKnowsIt) {
  const auto reservation = reserve(locked(5));
  EXPECT_EQ(reservation.user.login, "u1");
  EXPECT_EQ(fence(), "5");
  EXPECT_EQ(one("SELECT is_reserved FROM seats"), "t");
  EXPECT_TRUE(sold_.isSold(kSeat));
}

TEST_F(GuardedStatementTest, AHolderThatWasOvertakenSellsNothing) {
  session_.run("UPDATE seats SET fence = 9");
  EXPECT_EQ(errorOf(overtaken(5)), ErrorCode::kLockLost);
  EXPECT_EQ(sales(), "0");
  EXPECT_FALSE(sold_.isSold(kSeat));
}

TEST_F(GuardedStatementTest, TheTrueOwnerGetsAHigherTokenAndGoesOn) {
  session_.run("UPDATE seats SET fence = 9");
  reserve(locked(5));
  EXPECT_EQ(fence(), "10");
}

TEST_F(GuardedStatementTest, OnlyACommittedSaleMakesASeatAlreadyReserved) {
  reserve(locked(5), 2);
  EXPECT_EQ(errorOf(locked(6)), ErrorCode::kAlreadyReservedSeat);
  EXPECT_TRUE(sold_.isSold(kSeat));
}

// It waits for the row's writer, which then changes its mind: the second look finds the seat free.
TEST_F(GuardedStatementTest, AWaitingSaleSucceedsWhenTheFirstRollsBack) {
  PgSession other(where_);
  other.run("BEGIN");
  other.run("UPDATE seats SET is_reserved = true, fence = 4");
  auto outcome = startOn(loops_.at(), [&] { return service(db_).reserve(kSeat, 1, locked(5)); });
  ASSERT_TRUE(eventually([&] {
    return one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
  }));
  other.run("ROLLBACK");
  EXPECT_GT(finish(std::move(outcome)).id, 0);
  EXPECT_EQ(sales(), "1");
}

TEST_F(GuardedStatementTest, ALostAnswerIsFoundToHaveBeenASale) {
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto db = connect(where, 2);
  auto guard = locked(5);
  guard.beforeCommit = [&]() -> drogon::Task<> {
    proxy.swallowReplies();
    co_return;
  };
  // The first statement on a connection is prepared before it is executed: its own answers must
  // come back, so both connections have seen it before, at the same time.
  PgSession other(where_);
  other.run("BEGIN");
  other.run("UPDATE seats SET is_reserved = true");
  std::vector<std::future<Reservation>> refused;
  for (int i = 0; i < 2; ++i)
    refused.push_back(
        startOn(loops_.at(), [&] { return service(db).reserve(kSeat, 1, locked(1)); }));
  ASSERT_TRUE(eventually([&] {
    return one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "2";
  }));
  other.run("COMMIT");
  for (auto& one : refused) EXPECT_THROW(finish(std::move(one)), ServiceError);
  session_.run("UPDATE seats SET is_reserved = false, fence = 0");
  auto outcome = startOn(loops_.at(), [&] { return service(db).reserve(kSeat, 1, guard); });
  ASSERT_TRUE(eventually([&] { return proxy.swallowed() > 0; }));
  ASSERT_TRUE(eventually([&] { return sales() == "1"; }));
  proxy.cut();
  const auto reservation = finish(std::move(outcome));
  EXPECT_EQ(std::to_string(reservation.id), one("SELECT max(id) FROM reservations"));
  EXPECT_EQ(fence(), "5");
}

TEST_F(GuardedStatementTest, AReceiptIsStoredWithTheSaleOrNeitherIs) {
  session_.run("CREATE TABLE receipts (id bigint)");
  const KeepingReceipt keep;
  const RefusingReceipt refuse;
  EXPECT_THROW(reserve(locked(5), 1, &refuse), ServiceError);
  EXPECT_EQ(sales(), "0");
  EXPECT_EQ(fence(), "0");
  const auto reservation = reserve(locked(6), 1, &keep);
  EXPECT_EQ(one("SELECT id FROM receipts"), std::to_string(reservation.id));
}

// The only connection is busy until the lease is over.
TEST_F(GuardedStatementTest, AStatementThatWaitedForAConnectionPastTheLeaseIsNotSent) {
  const auto db = connect(where_, 1);
  session_.run("SELECT pg_advisory_lock(1)");
  auto busy = startOn(loops_.at(), [&]() -> drogon::Task<std::size_t> {
    const auto rows = co_await db->execSqlCoro("SELECT pg_advisory_lock(1)");
    co_return rows.size();
  });
  ASSERT_TRUE(eventually([&] {
    return one("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'") == "1";
  }));
  auto guard = locked(5);
  const auto leaseEnd = steady_clock::now() + std::chrono::milliseconds(200);
  guard.validUntil = until(leaseEnd);
  auto outcome = startOn(loops_.at(), [&] { return service(db).reserve(kSeat, 1, guard); });
  std::this_thread::sleep_until(leaseEnd);
  session_.run("SELECT pg_advisory_unlock(1)");
  finish(std::move(busy));
  try {
    finish(std::move(outcome));
    ADD_FAILURE() << "it was sold";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kLockLost);
  }
  EXPECT_EQ(sales(), "0");
}

TEST_F(GuardedStatementTest, PastTheLeaseNothingIsSent) {
  auto guard = locked(5);
  guard.validUntil = until(steady_clock::now() - std::chrono::seconds(1));
  EXPECT_EQ(errorOf(guard), ErrorCode::kLockLost);
  EXPECT_EQ(sales(), "0");
}

}  // namespace festa::test
