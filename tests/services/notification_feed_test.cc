#include "services/live/notification_feed.h"

#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

#include <atomic>
#include <functional>

namespace festa::test {

namespace {

class TitleEvents : public NotificationEvents {
 public:
  std::string data(const Notification& notification) const override { return notification.title; }
};

// A reader that takes everything at once, on the feed's loop.
class SinkOf : public EventSink {
 public:
  explicit SinkOf(std::function<void()> hear) : hear_(std::move(hear)) {}

  bool send(const std::string& events) override {
    if (events.find("event: notification") != std::string::npos) hear_();
    return true;
  }
  bool isConnected() const override { return true; }
  bool isBehind() const override { return false; }
  bool takesPages() const override { return true; }

 private:
  const std::function<void()> hear_;
};

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
  void listen(const std::string& resumeFrom, std::function<void()> hear) {
    feed_->add(1, Snapshot::parse(resumeFrom), std::make_unique<SinkOf>(std::move(hear)));
  }

  std::atomic<int> told_{0};         // of those who come back
  std::atomic<int> toldBefore_{-1};  // so many of them before what is new; -1: not yet
  const NotificationService& outbox_ = keptForever(
      std::make_unique<NotificationService>(testDatabase(db_), std::chrono::seconds(3600)));
  const TitleEvents& events_ = keptForever(std::make_unique<TitleEvents>());
  const std::shared_ptr<NotificationFeed> feed_ =
      std::make_shared<NotificationFeed>(outbox_, events_);
};

}  // namespace

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

}  // namespace festa::test
