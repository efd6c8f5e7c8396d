#include "controllers/live/notification_feed.h"

#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

#include <atomic>
#include <functional>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

constexpr LookBudget::Time kStart{1000s};
constexpr LookBudget::Limits kLimits{.reads = 3, .bytes = 1000, .time = 100ms};

// A reader that takes everything at once, on the thread that tells it.
class SinkOf : public EventSink {
 public:
  using Take = std::function<void(const std::string&)>;
  explicit SinkOf(Take take) : take_(std::move(take)) {}

  bool send(const std::string& events) override {
    take_(events);
    return true;
  }
  bool isConnected() const override { return true; }
  bool isBehind() const override { return false; }
  bool takesPages() const override { return true; }
  double shareOfAddress() const override { return 1; }

 private:
  const Take take_;
};

bool isNotification(const std::string& events) {
  return events.find("event: notification") != std::string::npos;
}

class NotificationFeedTest : public DatabaseFixture {
 protected:
  NotificationFeedTest() {
    session_.run(
        "INSERT INTO festivals (university_name, festival_name, start_date, end_date)"
        " VALUES ('U', 'F', now(), now())");
    session_.run(
        "INSERT INTO announcements (festival_id, title, content, is_pinned)"
        " VALUES (1, 't', 'c', false)");
    write(session_);
  }
  ~NotificationFeedTest() override {
    feed_->close();
    feed_->stop();
  }

  static void write(PgSession& session) {
    session.run(
        "INSERT INTO announcement_notifications (festival_id, announcement_id, title, content)"
        " SELECT festival_id, id, title, content FROM announcements");
  }
  void listenTo(const std::string& resumeFrom, SinkOf::Take take) {
    feed_->add({1, Snapshot::parse(resumeFrom)}, std::make_unique<SinkOf>(std::move(take)));
  }
  void listen(const std::string& resumeFrom, std::function<void()> hear) {
    listenTo(resumeFrom, [hear = std::move(hear)](const std::string& events) {
      if (isNotification(events)) hear();
    });
  }

  std::atomic<int> told_{0};         // those who come back
  std::atomic<int> toldBefore_{-1};  // so many of them before what is new; -1: not yet
  const NotificationService& outbox_ = keptForever(
      std::make_unique<NotificationService>(testDatabase(db_), std::chrono::seconds(3600)));
  const std::shared_ptr<NotificationFeed> feed_ = std::make_shared<NotificationFeed>(outbox_);
};

}  // namespace

// Who was told its first words has its place: a notification that is written then is told, too.
TEST_F(NotificationFeedTest, AListenerThatWasGreetedMissesNothing) {
  std::atomic<bool> hasLooked{false};
  std::atomic<bool> toldOther{false};
  std::atomic<bool> told{false};
  listenTo("", [&](const std::string& events) {
    if (events.starts_with("id: ")) hasLooked = true;
    if (isNotification(events)) toldOther = true;
  });
  feed_->start(loops_.at());
  ASSERT_TRUE(eventually([&] { return hasLooked.load(); }));
  listenTo("", [&](const std::string& events) {
    if (isNotification(events)) told = true;
    if (!events.starts_with("retry: ")) return;
    write(session_);
    // A look tells the other one meanwhile, unless it waits for this.
    eventually([&] { return toldOther.load(); }, std::chrono::seconds(1));
  });
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_TRUE(eventually([&] { return toldOther.load(); }));
}

// A listener names what it has seen, in 8 KiB at most: a thousand transactions that still ran, for
// example. All of them together must not keep a look from serving the first ones.
TEST_F(NotificationFeedTest, ListenersWithLongPositionsHaveTheirTurn) {
  constexpr int kReturning = 400;
  constexpr int kRunning = 1500;
  const auto oldest = std::stoll(one("SELECT pg_current_xact_id()")) - 100;
  std::string running;
  for (int i = 0; i < kRunning; ++i) running += ',' + std::to_string(oldest + i);
  running.erase(0, 1);
  ASSERT_LT(running.size(), 8192U);
  // A position that is ahead of the database is not used.
  session_.run("DO $$ BEGIN FOR i IN 1.." + std::to_string(kRunning + kReturning) +
               " LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$");
  for (int i = 0; i < kReturning; ++i)
    listen(std::to_string(oldest) + ':' + std::to_string(oldest + kRunning + i) + ':' + running,
           [&] { ++told_; });
  feed_->start(loops_.at());
  EXPECT_TRUE(eventually([&] { return told_ >= kReturning; }, std::chrono::seconds(60)))
      << told_ << " had their turn";
}

// Each of them has missed something else, so that each is a read of its own.
TEST_F(NotificationFeedTest, WhatIsNewIsToldBeforeAllWhoComeBackHaveHadTheirTurn) {
  constexpr int kReturning = 100;
  listen("", [&] { toldBefore_ = told_.load(); });
  for (int i = 0; i < kReturning; ++i) {
    const auto seen = std::to_string(3 + i);
    listen(seen + ':' + seen + ':', [&] {
      if (told_++ == 0) write(session_);
    });
  }
  feed_->start(loops_.at());
  EXPECT_TRUE(eventually([&] { return told_ >= kReturning; })) << told_ << " had their turn";
  EXPECT_TRUE(eventually([&] { return toldBefore_ >= 0; })) << "what was new was not told";
  EXPECT_LT(toldBefore_, kReturning / 2);
}

TEST(LookBudgetTest, IsSpentByReads) {
  LookBudget budget(kLimits, kStart);
  EXPECT_FALSE(budget.isSpent(kStart));
  for (int i = 0; i < 2; ++i) budget.read(1);
  EXPECT_FALSE(budget.isSpent(kStart));
  budget.read(0);
  EXPECT_TRUE(budget.isSpent(kStart));
}

TEST(LookBudgetTest, IsSpentByBytes) {
  LookBudget budget(kLimits, kStart);
  budget.read(999);
  EXPECT_FALSE(budget.isSpent(kStart));
  budget.read(1);
  EXPECT_TRUE(budget.isSpent(kStart));
}

TEST(LookBudgetTest, IsSpentByTime) {
  const LookBudget budget(kLimits, kStart);
  EXPECT_FALSE(budget.isSpent(kStart + 99ms));
  EXPECT_TRUE(budget.isSpent(kStart + 100ms));
}

}  // namespace festa::test
