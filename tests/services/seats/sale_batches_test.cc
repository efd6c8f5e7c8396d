#include "services/seats/sale_batches.h"

#include "controllers/http/protection.h"
#include "lock/lock_filter.h"
#include "lock/memory/memory_lock_storage.h"
#include "services/idempotency/idempotency_service.h"
#include "services/seats/reservation_service.h"
#include "tests/services/database_fixture.h"
#include "tests/support/lock/middleware.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/test_guard.h"

#include <gmock/gmock.h>

namespace festa::test {

namespace {

using std::chrono::steady_clock;
using testing::Each;

drogon::Task<std::optional<std::int64_t>> answer(std::optional<std::int64_t> value) {
  co_return value;
}

// The answer of a request with an Idempotency-Key.
class KeyReceipt : public Receipt<Reservation> {
 public:
  explicit KeyReceipt(IdempotencyAttempt attempt) : attempt_(std::move(attempt)) {}
  drogon::Task<> keep(Sql& sql, const Reservation& value) const override {
    return keepAnswer(sql, attempt_, answer(value));
  }
  const IdempotencyAttempt* attempt() const override { return &attempt_; }
  KeptAnswer answer(const Reservation& value) const override {
    return {200, "{\"sold\":" + std::to_string(value.id) + "}", ""};
  }

 private:
  const IdempotencyAttempt attempt_;
};

// Performance 1 is open, with the seats A1 … A40; performance 2, with A1, is closed. Two users.
class SaleBatchesTest : public DatabaseFixture {
 protected:
  SaleBatchesTest() {
    session_.run("INSERT INTO places (name, location, max_seat) VALUES ('p', 'l', 100)");
    for (const char* const opened : {"- interval '1 day'", "+ interval '1 hour'"})
      session_.run(std::string("INSERT INTO performances (place_id, category, start_at, end_at,"
                               " start_reservation_at, end_reservation_at, title, content, acting,"
                               " film_rating, price) VALUES (1, 'PLAY', now(), now(), now() ") +
                   opened + ", now() + interval '1 day', 't', 'c', 'a', 'ALL', 0)");
    session_.run(
        "INSERT INTO seats (performance_id, location, number)"
        " SELECT 1, 'A', n FROM generate_series(1, 40) AS n UNION ALL SELECT 2, 'A', 1");
    session_.run(
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " SELECT 'u' || n, '', 'n', 20, 'e', 'p' FROM generate_series(1, 2) AS n");
  }

  static TestGuard locked(std::int64_t token) {
    TestGuard guard;
    guard.fence = token;
    guard.renewFence = [](std::int64_t above) { return answer(above + 1); };
    guard.validUntil = until(steady_clock::now() + std::chrono::seconds(15));
    return guard;
  }

  // Reservations that begin in one turn of the loop; batches of all of them, one at a time.
  struct Wish {
    SeatRef seat;
    TestGuard guard = locked(5);
    std::int64_t user = 1;
    const Receipt<Reservation>* receipt = nullptr;
  };
  std::vector<std::future<Reservation>> start(const std::vector<Wish>& wishes,
                                              const Database& database) {
    auto& batches = keptForever(std::make_unique<SaleBatches>(database, BatchLimits{64, 1}));
    const auto& service =
        keptForever(std::make_unique<ReservationService>(database, sold_, batches));
    // The loop is busy until all have been queued.
    std::promise<void> all;
    loops_.at()->queueInLoop([ready = all.get_future().share()] { ready.wait(); });
    std::vector<std::future<Reservation>> sales;
    for (const auto& wish : wishes)
      sales.push_back(startOn(loops_.at(), [&service, wish] {
        return service.reserve(wish.seat, wish.user, wish.guard, wish.receipt);
      }));
    all.set_value();
    return sales;
  }
  std::vector<std::future<Reservation>> start(const std::vector<Wish>& wishes) {
    return start(wishes, testDatabase(db_));
  }

  static ErrorCode errorOf(std::future<Reservation> sale) {
    try {
      finish(std::move(sale));
    } catch (const ServiceError& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  }
  static std::vector<Wish> seats(int first, int last) {
    std::vector<Wish> wishes;
    for (int number = first; number <= last; ++number) wishes.push_back({{1, "A", number}});
    return wishes;
  }
  std::string sales() { return one("SELECT count(*) FROM reservations"); }
  std::string transactions() { return one("SELECT count(DISTINCT xmin::text) FROM reservations"); }

  SoldSeats sold_{100};
};

}  // namespace

TEST_F(SaleBatchesTest, SalesOfDifferentSeatsShareOneCommit) {
  auto all = start(seats(1, 40));
  std::set<std::int64_t> ids;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto sale = finish(std::move(all[i]));
    EXPECT_EQ(sale.seat.number, static_cast<int>(i) + 1) << "somebody else's answer";
    EXPECT_EQ(sale.user.login, "u1");
    EXPECT_TRUE(ids.insert(sale.id).second);
  }
  EXPECT_EQ(sales(), "40");
  EXPECT_EQ(transactions(), "1");
  EXPECT_EQ(one("SELECT count(*) FROM seats WHERE is_reserved AND fence = 5"), "40");
}

TEST_F(SaleBatchesTest, EachMemberHasItsOwnAnswer) {
  session_.run("UPDATE seats SET is_reserved = true WHERE id = 3");
  session_.run("UPDATE seats SET fence = 9 WHERE id IN (4, 5)");
  auto overtaken = locked(5);
  overtaken.renewFence = [](std::int64_t) { return answer(std::nullopt); };
  auto all = start({{{1, "A", 1}},
                    {{1, "A", 2}, locked(5), 77},
                    {{1, "A", 3}},
                    {{1, "A", 4}, overtaken},
                    {{1, "A", 5}, locked(5)},
                    {{1, "B\"}", 1}},
                    {{2, "A", 1}},
                    {{99, "A", 1}},
                    {{1, "A", 6}}});
  EXPECT_GT(finish(std::move(all[0])).id, 0);
  EXPECT_EQ(errorOf(std::move(all[1])), ErrorCode::kUserNotFound);
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kAlreadyReservedSeat);
  EXPECT_EQ(errorOf(std::move(all[3])), ErrorCode::kLockLost);
  EXPECT_GT(finish(std::move(all[4])).id, 0) << "the true owner gets a larger token";
  EXPECT_EQ(errorOf(std::move(all[5])), ErrorCode::kSeatNotFound);
  EXPECT_EQ(errorOf(std::move(all[6])), ErrorCode::kReservationClosed);
  EXPECT_EQ(errorOf(std::move(all[7])), ErrorCode::kPerformanceNotFound);
  EXPECT_GT(finish(std::move(all[8])).id, 0);
  EXPECT_EQ(sales(), "3");
  EXPECT_EQ(one("SELECT fence FROM seats WHERE id = 5"), "10");
}

TEST_F(SaleBatchesTest, ALockedRowCostsTheOthersNothing) {
  PgSession other(where_);
  other.run("BEGIN");
  other.run("UPDATE seats SET version = version + 1 WHERE id = 1");
  auto all = start(seats(1, 8));
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GT(finish(std::move(all[i])).id, 0);
  EXPECT_EQ(sales(), "7");
  other.run("COMMIT");
  EXPECT_GT(finish(std::move(all[0])).id, 0) << "it has waited alone";
}

// The check of the foreign key would wait for it. No time-out ends a wait here.
TEST_F(SaleBatchesTest, ALockedUserCostsTheOthersNothing) {
  PgSession other(where_);
  other.run("BEGIN");
  other.run("SELECT 1 FROM users WHERE id = 2 FOR UPDATE");
  auto wishes = seats(1, 5);
  wishes[2].user = 2;
  auto all = start(wishes);
  for (const std::size_t i : {0, 1, 3, 4}) EXPECT_GT(finish(std::move(all[i])).id, 0);
  EXPECT_EQ(sales(), "4");
  EXPECT_EQ(transactions(), "1") << "the batch failed, and they were written one by one";
  other.run("COMMIT");
  EXPECT_EQ(finish(std::move(all[2])).user.login, "u2") << "it has waited alone";
}

TEST_F(SaleBatchesTest, ABatchThatFailsIsWrittenMemberByMember) {
  session_.run("ALTER TABLE reservations ADD CONSTRAINT not_for_two CHECK (user_id <> 2)");
  auto wishes = seats(1, 5);
  wishes[2].user = 2;
  auto all = start(wishes);
  for (const std::size_t i : {0, 1, 3, 4}) EXPECT_GT(finish(std::move(all[i])).id, 0);
  EXPECT_THROW(finish(std::move(all[2])), drogon::orm::DrogonDbException);
  EXPECT_EQ(sales(), "4");
}

TEST_F(SaleBatchesTest, AMemberPastItsLeaseIsNotSent) {
  auto wishes = seats(1, 3);
  wishes[1].guard.validUntil = until(steady_clock::now() - std::chrono::seconds(1));
  auto all = start(wishes);
  EXPECT_GT(finish(std::move(all[0])).id, 0);
  EXPECT_EQ(errorOf(std::move(all[1])), ErrorCode::kLockLost);
  EXPECT_GT(finish(std::move(all[2])).id, 0);
  EXPECT_EQ(one("SELECT is_reserved FROM seats WHERE id = 2"), "f");
  EXPECT_EQ(transactions(), "1") << "the others were sent alone";
}

// The batch's connection dies after PostgreSQL has committed. Every member finds its own sale.
TEST_F(SaleBatchesTest, ALostAcknowledgementIsResolvedForEachMemberByItsOwnRow) {
  TcpProxy proxy(sharedPg().port());
  auto where = where_;
  where.port = proxy.port();
  const auto& database = keptForever(std::make_unique<TwoClients>(db_, connect(where, 1)));
  finish(std::move(start(seats(1, 1), database).at(0)));  // the statement is prepared
  session_.run("UPDATE seats SET is_reserved = true WHERE id = 4");
  proxy.swallowReplies();
  auto all = start(seats(2, 6), database);
  ASSERT_TRUE(eventually([&] { return sales() == "5"; }));
  proxy.cut();
  for (const std::size_t i : {0, 1, 3, 4}) {
    const auto sale = finish(std::move(all[i]));
    EXPECT_EQ(one("SELECT seat_id FROM reservations WHERE id = " + std::to_string(sale.id)),
              std::to_string(i + 2));
  }
  // Its row does not carry its token: nothing was stored for it.
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kDatabaseUnavailable);
  EXPECT_EQ(sales(), "5");
}

// Sales under the keys of their seats, by a filter as in production.
class HeldSaleBatchesTest : public SaleBatchesTest {
 protected:
  // Sales of these seats that begin in one turn of the loop, after their keys were taken.
  std::vector<std::future<bool>> sell(const std::vector<int>& numbers) {
    std::promise<void> all;
    loops_.at()->queueInLoop([ready = all.get_future().share()] { ready.wait(); });
    std::vector<std::future<bool>> sold;
    for (const int number : numbers)
      sold.push_back(startOn(loops_.at(), [this, number] { return sellHeld(number); }));
    all.set_value();
    return sold;
  }
  bool isFree(int number) {
    const lock::LockRequest request{keyOf(number), lock::Millis{0}, lock::Millis{30'000}};
    auto lease = runOn(loops_.at(), [&] { return storage_->tryLock(request); });
    if (lease) runOn(loops_.at(), [&] { return storage_->unlock(lease->clone()); });
    return lease.has_value();
  }
  bool isSold(int number) {
    return one("SELECT is_reserved FROM seats WHERE id = " + std::to_string(number)) == "t";
  }

  TcpProxy proxy_{sharedPg().port()};

 private:
  static std::string keyOf(int number) { return "seat:" + std::to_string(number); }
  const Database& twoConnections() {
    auto where = where_;
    where.port = proxy_.port();
    auto batch = connect(where, 2, "-c application_name=held");
    // The proxy must not take what a connection says while it is made for a sale.
    EXPECT_TRUE(eventually([&] {
      return one("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'held'"
                 " AND state = 'idle'") == "2";
    }));
    return keptForever(std::make_unique<TwoClients>(db_, std::move(batch)));
  }
  drogon::Task<bool> sellHeld(int number) {
    auto work = [this, number](lock::LockHold& hold) { return sellUnder(hold, number); };
    const lock::Strategy strategy{"memory", storage_.get()};
    const auto key = keyOf(number);
    const auto end = co_await filter_.run(nullptr, strategy, key, work);
    co_return std::holds_alternative<bool>(end);
  }
  drogon::Task<bool> sellUnder(lock::LockHold& hold, int number) {
    HeldLock held(hold);
    WriteGuard guard;
    guard.hold = &held;
    guard.fence = hold.fence();
    const SeatRef seat{1, "A", number};
    co_await service_.reserve(seat, 1, guard, nullptr);
    co_return true;
  }

  std::shared_ptr<lock::LockStorage> storage_ = lock::MemoryLockStorage::create(1, loops_.at());
  lock::LockBoard board_{100};
  const lock::LockFilter filter_{
      lock::Lockable{.name = "seats", .key = "k", .lease = lock::Millis{15'000}}, board_,
      keptForever(std::make_unique<Recorder>())};
  const Database& database_ = twoConnections();
  SaleBatches& batches_ = keptForever(std::make_unique<SaleBatches>(database_, BatchLimits{64, 2}));
  const ReservationService& service_ =
      keptForever(std::make_unique<ReservationService>(database_, sold_, batches_));
};

TEST_F(HeldSaleBatchesTest, EachKeyIsReleasedAfterTheAcknowledgementOfItsOwnBatch) {
  proxy_.holdBackNext();
  auto first = sell({1, 2, 3});
  ASSERT_TRUE(eventually([&] { return proxy_.isHoldingBack(); }));
  auto second = sell({4, 5});
  for (auto& sale : second) EXPECT_TRUE(finish(std::move(sale)));
  for (const int number : {4, 5}) EXPECT_TRUE(isFree(number)) << number;
  for (const int number : {1, 2, 3}) {
    EXPECT_FALSE(isSold(number)) << number;
    EXPECT_FALSE(isFree(number)) << number << " was released by another batch's acknowledgement";
  }
  proxy_.letThrough();
  for (auto& sale : first) EXPECT_TRUE(finish(std::move(sale)));
  for (const int number : {1, 2, 3}) {
    EXPECT_TRUE(isSold(number)) << number;
    EXPECT_TRUE(isFree(number)) << number;
  }
  EXPECT_EQ(transactions(), "2");
}

TEST_F(SaleBatchesTest, AnswersWithAKeyAreStoredInTheSameTransaction) {
  const IdempotencyService keys(testDatabase(db_), {});
  std::vector<IdempotencyAttempt> attempts;
  for (const auto* const key : {"one", "two", "taken over"})
    attempts.push_back({"user", 1, key, std::string("owner of ") + key});
  for (const auto& attempt : attempts) run([&] { return keys.take(attempt, "print"); });
  session_.run("UPDATE idempotency_keys SET owner = 'another' WHERE key = 'taken over'");
  const KeyReceipt first(attempts[0]);
  const KeyReceipt second(attempts[1]);
  const KeyReceipt third(attempts[2]);
  auto wishes = seats(1, 4);
  wishes[0].receipt = &first;
  wishes[1].receipt = &second;
  wishes[2].receipt = &third;
  auto all = start(wishes);
  const auto sale = finish(std::move(all[0]));
  EXPECT_GT(finish(std::move(all[1])).id, 0);
  EXPECT_EQ(errorOf(std::move(all[2])), ErrorCode::kRequestInProgress);
  EXPECT_GT(finish(std::move(all[3])).id, 0);
  EXPECT_EQ(sales(), "3");
  EXPECT_EQ(transactions(), "1");
  EXPECT_EQ(one("SELECT body FROM idempotency_keys WHERE key = 'one'"),
            "{\"sold\":" + std::to_string(sale.id) + "}");
  EXPECT_EQ(one("SELECT count(*) FROM idempotency_keys WHERE status = 200"), "2");
}

}  // namespace festa::test
