#include "services/announcements/notification_service.h"

#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

namespace festa::test {

namespace {

using News = NotificationService::News;
using Ids = std::vector<std::int64_t>;

Ids idsOf(const News& news) {
  Ids ids;
  for (const auto& notification : news.unseen) ids.push_back(notification.id);
  return ids;
}

class NotificationServiceTest : public DatabaseFixture {
 protected:
  NotificationServiceTest() {
    session_.run(
        "INSERT INTO festivals (university_name, festival_name, start_date, end_date)"
        " SELECT 'U', 'F', now(), now() FROM generate_series(1, 2)");
    session_.run(
        "INSERT INTO announcements (festival_id, title, content, is_pinned)"
        " SELECT 1 + i % 2, 't' || i, 'c', false FROM generate_series(0, 9) AS i");
  }

  // A row of the outbox, in the session's transaction; its id.
  static std::int64_t write(PgSession& session, int festival = 1) {
    return std::stoll(*session.query(
        "INSERT INTO announcement_notifications (festival_id, announcement_id, title, content)"
        " SELECT festival_id, id, title, content FROM announcements WHERE festival_id = $1::bigint"
        " ORDER BY id LIMIT 1 RETURNING id",
        {std::to_string(festival)})[0][0]);
  }
  News since(std::optional<Snapshot> before, std::optional<std::int64_t> festival = {},
             NotificationService::Page page = {}) {
    return run([&] { return service_.since(before, festival, page); });
  }
  // What the outbox says to a reader that remembers the largest id it has read.
  Ids naively(std::int64_t after) {
    Ids ids;
    for (const auto& row : session_.query(
             "SELECT id FROM announcement_notifications WHERE id > $1::bigint ORDER BY id",
             {std::to_string(after)}))
      ids.push_back(std::stoll(*row[0]));
    return ids;
  }
  // The error's code, and its Retry-After; nullopt: it was sent.
  std::optional<ServiceError> refusal(std::int64_t festival, std::int64_t announcement) {
    try {
      run([&] { return service_.notify(festival, announcement); });
    } catch (const ServiceError& error) {
      return error;
    }
    return std::nullopt;
  }

  const NotificationService service_{testDatabase(db_), std::chrono::seconds(3600)};
};

}  // namespace

TEST_F(NotificationServiceTest, RowsThatCommitInAnotherOrderThanTheirIdsAreFoundOnce) {
  auto look = since({});
  EXPECT_EQ(idsOf(look), Ids{});

  PgSession slow(where_);
  slow.run("BEGIN");
  const auto early = write(slow);
  const auto late = write(session_);  // commits at once
  ASSERT_LT(early, late);

  look = since(look.seen);
  EXPECT_EQ(idsOf(look), Ids{late});
  EXPECT_EQ(naively(0), Ids{late});
  slow.run("COMMIT");

  // The control: a reader by id has gone past it.
  EXPECT_EQ(naively(late), Ids{});
  look = since(look.seen);
  EXPECT_EQ(idsOf(look), Ids{early});
  look = since(look.seen);
  EXPECT_EQ(idsOf(look), Ids{});
}

TEST_F(NotificationServiceTest, AnOpenWriterHoldsUpNothing) {
  PgSession open(where_);
  open.run("BEGIN");
  write(open);
  const auto before = since({}).seen;
  const auto id = write(session_);
  EXPECT_EQ(idsOf(since(before)), Ids{id});
  open.run("ROLLBACK");
  EXPECT_EQ(idsOf(since(before)), Ids{id});
}

TEST_F(NotificationServiceTest, ReadersOfOneFestivalGetItsRowsInOrderAndWithTheirTexts) {
  const auto before = since({}).seen;
  const auto a = write(session_, 1), b = write(session_, 2), c = write(session_, 1);
  EXPECT_EQ(idsOf(since(before)), (Ids{a, b, c}));
  const auto news = since(before, 1);
  EXPECT_EQ(idsOf(news), (Ids{a, c}));
  EXPECT_EQ(news.unseen[0].festivalId, 1);
  EXPECT_EQ(news.unseen[0].announcementId, 1);
  EXPECT_EQ(news.unseen[0].title, "t0");
  EXPECT_EQ(news.unseen[0].content, "c");
  EXPECT_FALSE(before.sees(news.unseen[0].xid));
  EXPECT_TRUE(news.seen.sees(news.unseen[0].xid));
}

TEST_F(NotificationServiceTest, ASnapshotThatIsAheadOfTheDatabaseFindsNothing) {
  write(session_);
  EXPECT_EQ(idsOf(since(Snapshot::parse("999999999:999999999:"))), Ids{});
}

// Commits in another order than that of ids and transactions, some of it while pages are read.
TEST_F(NotificationServiceTest, PagesLoseNothingAndTellNothingTwice) {
  auto look = since({});
  PgSession slow(where_);
  slow.run("BEGIN");
  Ids written{write(slow)};
  for (int i = 0; i < 7; ++i) written.push_back(write(session_));
  Ids read;
  int pages = 0;
  do {
    look = since(look.seen, {}, {.rows = 3});
    if (++pages == 2) {
      slow.run("COMMIT");
      for (int i = 0; i < 2; ++i) written.push_back(write(session_));
    }
    EXPECT_LE(look.unseen.size(), 3U);
    for (const auto id : idsOf(look)) read.push_back(id);
  } while (!look.isComplete);
  EXPECT_GT(pages, 3);
  std::ranges::sort(read);
  EXPECT_EQ(read, written);
  EXPECT_EQ(idsOf(since(look.seen)), Ids{});
}

TEST_F(NotificationServiceTest, APageEndsBehindTheRowThatFillsIt) {
  const auto before = since({}).seen;
  const auto first = write(session_), second = write(session_);
  const auto page = since(before, {}, {.bytes = 1});
  EXPECT_EQ(idsOf(page), Ids{first});
  EXPECT_FALSE(page.isComplete);
  EXPECT_EQ(idsOf(since(page.seen)), Ids{second});
}

// A reader may name many transactions that still ran when it looked; they are in each of its ids.
TEST_F(NotificationServiceTest, APageIsNoLongerForAReaderThatNamesManyTransactions) {
  const auto oldest = std::stoll(one("SELECT pg_current_xact_id()"));
  Ids written;
  for (int i = 0; i < 20; ++i) written.push_back(write(session_));
  session_.run(
      "DO $$ BEGIN FOR i IN 1..1100 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
  const auto newest = oldest + 1100;
  std::string running;
  for (auto xid = oldest + 1; xid < newest; ++xid) running += ',' + std::to_string(xid);
  const auto before = Snapshot::parse(std::to_string(oldest + 1) + ':' + std::to_string(newest) +
                                      ':' + running.substr(1));
  const NotificationService::Page size{.rows = 200, .bytes = 8192};
  auto page = since(before, {}, size);
  EXPECT_LT(page.unseen.size(), 5U);
  auto read = idsOf(page);
  while (!page.isComplete) {
    page = since(page.seen, {}, size);
    for (const auto id : idsOf(page)) read.push_back(id);
  }
  EXPECT_EQ(read, written);
}

// What a listener comes back with.
TEST_F(NotificationServiceTest, APositionHasSeenEverythingUpToItsNotification) {
  const auto before = since({}).seen;
  const auto a = write(session_), b = write(session_), c = write(session_);
  const auto news = since(before);
  ASSERT_EQ(idsOf(news), (Ids{a, b, c}));
  EXPECT_EQ(idsOf(since(Snapshot::parse(news.unseen[0].position))), (Ids{b, c}));
  EXPECT_EQ(idsOf(since(Snapshot::parse(news.unseen[1].position))), Ids{c});
  EXPECT_EQ(idsOf(since(Snapshot::parse(news.unseen[2].position))), Ids{});
}

// A dump that was restored into a cluster with smaller numbers.
TEST_F(NotificationServiceTest, RowsOfTransactionsThatAreYetToComeAreNotTold) {
  const auto before = since({}).seen;
  write(session_);
  session_.run("UPDATE announcement_notifications SET xid = '999999999'");
  EXPECT_EQ(idsOf(since(before)), Ids{});
}

TEST_F(NotificationServiceTest, AnAnnouncementIsNotifiedOnceInThreeMinutes) {
  EXPECT_FALSE(refusal(1, 1));
  const auto again = refusal(1, 1);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->code(), ErrorCode::kNotifiedRecently);
  EXPECT_GT(again->retryAfter().count(), 170);
  EXPECT_LE(again->retryAfter().count(), 180);
  EXPECT_FALSE(refusal(1, 3)) << "another announcement";
  session_.run(
      "UPDATE announcements SET notified_at = now() - interval '179 seconds' WHERE id = 1");
  EXPECT_EQ(refusal(1, 1)->retryAfter().count(), 1);
  session_.run(
      "UPDATE announcements SET notified_at = now() - interval '180 seconds' WHERE id = 1");
  EXPECT_FALSE(refusal(1, 1));
  EXPECT_EQ(one("SELECT count(*) FROM announcement_notifications"), "3");
}

TEST_F(NotificationServiceTest, OfManyAtOnceOneIsSent) {
  const auto notifyOften = [this]() -> drogon::Task<int> {
    std::vector<drogon::Task<std::int64_t>> tasks;
    tasks.reserve(12);
    for (int i = 0; i < 12; ++i) tasks.push_back(service_.notify(1, 1));
    int sent = 0;
    const auto one = [](drogon::Task<std::int64_t> task, int& count) -> drogon::Task<> {
      try {
        co_await task;
        ++count;
      } catch (const ServiceError&) {
      }
    };
    std::vector<drogon::Task<>> all;
    for (auto& task : tasks) all.push_back(one(std::move(task), sent));
    co_await drogon::when_all(std::move(all));
    co_return sent;
  };
  EXPECT_EQ(run(notifyOften), 1);
  EXPECT_EQ(one("SELECT count(*) FROM announcement_notifications"), "1");
}

TEST_F(NotificationServiceTest, OldRowsAreSwept) {
  const auto id = write(session_);
  write(session_);
  session_.query(
      "UPDATE announcement_notifications SET notified_at = now() - interval '3601 seconds'"
      " WHERE id = $1::bigint",
      {std::to_string(id)});
  EXPECT_EQ(run([&] { return service_.sweep(); }), 1U);
  EXPECT_EQ(one("SELECT count(*) FROM announcement_notifications"), "1");
}

}  // namespace festa::test
