#include "services/write/guarded_write.h"

#include "services/coupons/coupon_service.h"
#include "services/festivals/event_dates.h"
#include "services/festivals/questions.h"
#include "services/idempotency/idempotency_service.h"
#include "services/seats/reservation_service.h"
#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

#include <gmock/gmock.h>

#include <map>

namespace festa::test {

namespace {

drogon::Task<std::optional<std::int64_t>> nextAfter(std::int64_t above) {
  co_return above + 1;
}

// The answer of a request with an Idempotency-Key.
template <class T>
class KeyReceipt : public Receipt<T> {
 public:
  explicit KeyReceipt(IdempotencyAttempt attempt) : attempt_(std::move(attempt)) {}
  drogon::Task<> keep(Sql& sql, const T& value) const override {
    return keepAnswer(sql, attempt_, answer(value));
  }
  const IdempotencyAttempt* attempt() const override { return &attempt_; }
  KeptAnswer answer(const T&) const override { return {200, "{}", ""}; }

 private:
  const IdempotencyAttempt attempt_;
};

// A server that logs the statements of this database. Every write has a key, and a row that carries
// a later fence than the write's.
class LongestAttemptTest : public DatabaseFixture {
 protected:
  LongestAttemptTest() {
    const std::string alter = "ALTER DATABASE \"" + where_.name + "\" SET ";
    PgSession(sharedPg().superuser())
        .run(alter + "log_statement = 'all'; " + alter + "log_min_messages = 'log'");
    session_.run(
        "INSERT INTO festivals (university_name, festival_name, start_date, end_date, fence,"
        " question_fence, event_date_fence) VALUES ('U', 'F', now(), now(), 9, 9, 9)");
    session_.run(
        "INSERT INTO announcements (festival_id, title, content, is_pinned)"
        " VALUES (1, 't', 'c', false), (1, 'u', 'd', false)");
    session_.run(
        "INSERT INTO questions (festival_id, question, answer, sequence)"
        " VALUES (1, 'q', 'a', 1), (1, 'r', 'b', 2)");
    session_.run("INSERT INTO event_dates (festival_id, date) VALUES (1, '2026-05-01')");
    session_.run("INSERT INTO places (name, location, max_seat) VALUES ('p', 'l', 100)");
    session_.run(
        "INSERT INTO performances (place_id, category, start_at, end_at, start_reservation_at,"
        " end_reservation_at, title, content, acting, film_rating, price) VALUES (1, 'PLAY',"
        " now(), now(), now() - interval '1 day', now() + interval '1 day', 't', 'c', 'a', 'ALL',"
        " 0)");
    session_.run(
        "INSERT INTO seats (performance_id, location, number) VALUES (1, 'A', 1), (1, 'A', 2)");
    session_.run(
        "INSERT INTO coupons (name, stock, remaining, one_per_user) VALUES ('c', 5, 5, true)");
    session_.run(
        "INSERT INTO users (login, password_hash, name, age, email, phone)"
        " VALUES ('u', '', 'n', 20, 'e', 'p')");
  }

  static TestGuard overtaking(std::int64_t fence = 5) {
    TestGuard guard;
    guard.fence = fence;
    guard.renewFence = [](std::int64_t above) { return nextAfter(above); };
    return guard;
  }
  template <class T>
  KeyReceipt<T> receipt() {
    const IdempotencyAttempt attempt{"user", 1, std::to_string(++keys_), "owner"};
    const IdempotencyService service(testDatabase(db_), {});
    run([&] { return service.take(attempt, "print"); });
    return KeyReceipt<T>(attempt);
  }

  // The statements of the transactions of this write, besides BEGIN and COMMIT.
  template <class Make>
  std::int64_t statementsOf(Make make) {
    const auto before = sharedPg().log().size();
    run(std::move(make));
    // The server has logged what its client was answered, but maybe not yet COMMIT.
    EXPECT_TRUE(eventually([&] { return textSince(before, "statement: commit") == 1; }));
    return textSince(before, "LOG:  execute ") + textSince(before, "LOG:  statement: ") - 2;
  }

  // A sale of this seat in batches of so many members.
  std::int64_t statementsOfSale(std::int32_t seat, std::size_t members) {
    const auto& database = logged();
    auto& batches = keptForever(std::make_unique<SaleBatches>(database, BatchLimits{members, 1}));
    const ReservationService sales(database, sold_, batches);
    const auto kept = receipt<Reservation>();
    return statementsOf([&] { return sales.reserve({1, "A", seat}, 1, overtaking(50), &kept); });
  }

  const Database& logged() { return testDatabase(connect(where_, 2)); }

 private:
  static std::int64_t textSince(std::size_t start, const std::string& text) {
    const auto log = sharedPg().log();
    std::int64_t count = 0;
    for (auto at = log.find(text, start); at != std::string::npos; at = log.find(text, at + 1))
      ++count;
    return count;
  }

  int keys_ = 0;
  SoldSeats sold_{100};
};

}  // namespace

TEST_F(LongestAttemptTest, NoGuardedWriteSendsMoreStatementsThanAreCounted) {
  const auto& database = logged();
  const AnnouncementService announcements(database);
  const QuestionService questions(database);
  const EventDateService dates(database);
  const auto announcement = receipt<Announcement>();
  const auto pin = receipt<bool>();
  const auto removal = receipt<std::int64_t>();
  const auto question = receipt<Questions::Row>();
  const auto order = receipt<QuestionService::Places>();
  const auto date = receipt<EventDates::Row>();
  const auto change = receipt<EventDates::Row>();
  const NewAnnouncement pinned{"t", "c", true, 2};
  const PinChange swap{true, 2};
  const QuestionService::Places places{{1, 2}, {2, 1}, {3, 3}};
  const std::map<std::string, std::int64_t> counts{
      {"announcement",
       statementsOf([&] { return announcements.create(1, pinned, overtaking(), &announcement); })},
      {"pin",
       statementsOf([&] { return announcements.setPinned(1, 1, swap, overtaking(), &pin); })},
      {"removal", statementsOf([&] { return announcements.remove(1, 1, overtaking(), &removal); })},
      {"question", statementsOf([&] {
         return questions.create(1, {"s", "c"}, overtaking(), &question);
       })},
      {"order", statementsOf([&] { return questions.reorder(1, places, overtaking(), &order); })},
      {"date", statementsOf([&] { return dates.create(1, {"2026-05-02"}, overtaking(), &date); })},
      {"change",
       statementsOf([&] { return dates.change(1, 1, {"2026-05-03"}, overtaking(), &change); })},
  };
  std::int64_t longest = 0;
  for (const auto& [name, count] : counts) {
    EXPECT_LE(count, kLongestAttemptStatements) << name;
    longest = std::max(longest, count);
  }
  EXPECT_EQ(longest, kLongestAttemptStatements) << "more are counted than any write sends";
}

TEST_F(LongestAttemptTest, ASaleAndAGrantSendTheirStatementAndTheAnswer) {
  EXPECT_EQ(statementsOfSale(1, 64), 2) << "shared";
  EXPECT_EQ(statementsOfSale(2, 1), 2) << "alone";
  const CouponService coupons(logged());
  const auto kept = receipt<CouponClaim>();
  EXPECT_EQ(statementsOf([&] { return coupons.claim(1, 1, overtaking(50), &kept); }), 2);
}

}  // namespace festa::test
