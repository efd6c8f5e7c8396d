#include "services/live/notification_feed.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

namespace festa {

namespace {

constexpr double kFeedEvery = 0.2;
constexpr std::chrono::seconds kLongestLook{5};  // longer than clients wait for an answer
constexpr int kQuietRounds = 50;                 // then a listener gets a new id to come back with
constexpr int kIdleRounds = 10;                  // between looks without listeners
constexpr std::size_t kMostReturns = 100;        // of one look; the others wait for the next

}  // namespace

void NotificationFeed::start(trantor::EventLoop* loop) {
  loop->queueInLoop([self = shared_from_this()] { self->feed(); });
  loop->runEvery(kFeedEvery, [self = shared_from_this()] { self->feed(); });
}

void NotificationFeed::stop() {
  turn_.stop(kLongestLook);
}

void NotificationFeed::add(std::int64_t festivalId, std::optional<Snapshot> resumeFrom,
                           std::unique_ptr<EventSink> sink) {
  // Browsers wait this long before they come back.
  if (!sink->send("retry: 1000\n\n")) return;
  readers_.add(
      {.number = ++numbers_,
       .festivalId = festivalId,
       .resumeFrom = std::move(resumeFrom),
       .sink = std::move(sink),
       // With the first look, so that a listener that loses its connection soon can come back, too.
       .quietRounds = kQuietRounds - 1});
}

std::string NotificationFeed::rendered(const Notifications& notifications,
                                       const Snapshot& seen) const {
  std::string text;
  for (const auto* const notification : notifications) {
    // Not earlier: a listener that comes back with this id does not get the other events again.
    if (notification == notifications.back()) text += "id: " + seen.text() + '\n';
    text += "event: notification\ndata: " + events_.data(*notification) + "\n\n";
  }
  return text;
}

bool NotificationFeed::goesOn(Reader& reader, const NotificationService::News& news) const {
  if (reader.resumeFrom) return reader.sink->isConnected();
  if (reader.sink->isBehind()) return false;
  Notifications unseen;
  for (const auto& notification : news.unseen)
    if (notification.festivalId == reader.festivalId &&
        !(reader.told && reader.told->sees(notification.xid)))
      unseen.push_back(&notification);
  if (unseen.empty() && ++reader.quietRounds < kQuietRounds) return reader.sink->isConnected();
  reader.quietRounds = 0;
  return reader.sink->send(unseen.empty() ? "id: " + news.seen.text() + "\n\n"
                                          : rendered(unseen, news.seen));
}

std::vector<NotificationFeed::Return> NotificationFeed::returns() const {
  std::vector<Return> all;
  readers_.each([&](const Reader& reader) {
    if (reader.resumeFrom && all.size() < kMostReturns)
      all.push_back({reader.number, reader.festivalId, *reader.resumeFrom});
  });
  return all;
}

// Between two looks: it has seen what the first of them has, and the second finds the rest.
drogon::Task<> NotificationFeed::welcome(Return back) {
  const auto missed = co_await outbox_.since(back.from, back.festivalId);
  Notifications unseen;
  for (const auto& notification : missed.unseen) unseen.push_back(&notification);
  readers_.keepIf([&](Reader& reader) {
    if (reader.number != back.number) return true;
    reader.resumeFrom.reset();
    reader.told = missed.seen;
    return unseen.empty() || reader.sink->send(rendered(unseen, missed.seen));
  });
}

drogon::Task<> NotificationFeed::look() {
  const auto news = co_await outbox_.since(seen_);
  readers_.keepIf([&](Reader& reader) { return goesOn(reader, news); });
  seen_ = news.seen;
  const auto all = returns();
  for (const auto& back : all) co_await welcomeOrEnd(back);
}

// One listener's failure does not keep the others waiting.
drogon::Task<> NotificationFeed::welcomeOrEnd(Return back) {
  try {
    co_await welcome(back);
    co_return;
  } catch (const std::exception& error) {
    LOG_WARN << "a listener could not be told what it has missed: " << error.what();
  }
  readers_.keepIf([&](const Reader& reader) { return reader.number != back.number; });
}

bool NotificationFeed::isDue() {
  bool hasReaders = false;
  readers_.each([&](const Reader&) { hasReaders = true; });
  if (!hasReaders && seen_ && ++idleRounds_ < kIdleRounds) return false;
  idleRounds_ = 0;
  return true;
}

void NotificationFeed::report(const std::string& failure) {
  const bool fails = !failure.empty();
  if (fails && !hasFailed_) LOG_WARN << "notifications cannot be read: " << failure;
  if (!fails && hasFailed_) LOG_WARN << "notifications are read again";
  hasFailed_ = fails;
}

drogon::AsyncTask NotificationFeed::feed() {
  const auto self = shared_from_this();
  if (!isDue() || !turn_.begin()) co_return;
  std::string failure;
  try {
    co_await look();
  } catch (const std::exception& error) {
    failure = *error.what() == '\0' ? "unknown" : error.what();
  }
  report(failure);
  turn_.end();
}

}  // namespace festa
