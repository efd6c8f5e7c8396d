#include "controllers/live/notification_feed.h"

#include "controllers/http/asked.h"
#include "controllers/json/json_writer.h"

#include <trantor/utils/Logger.h>

#include <algorithm>
#include <map>

namespace festa {

namespace {

constexpr std::chrono::milliseconds kNotificationsEvery{200};
constexpr int kQuietNotificationRounds = 50;  // then a listener gets a new id to come back with
constexpr int kIdleRounds = 10;               // between looks without listeners
constexpr int kMostPages = 8;                 // so many pages of what is new are told in one look
constexpr NotificationService::Page kReturnPage{.rows = 200, .bytes = 256UL * 1024};
constexpr LookBudget::Limits kReturnWork{
    .reads = 20, .bytes = 4 * kReturnPage.bytes, .time = std::chrono::milliseconds(100)};
// There is room for the snapshot of a database with hundreds of transactions at once.
constexpr std::size_t kMaxEventId = 8192;

std::string eventOf(const Notification& notification) {
  JsonWriter json;
  json.beginObject()
      .member("notificationId", notification.id)
      .member("announcementId", notification.announcementId)
      .member("title", notification.title)
      .member("content", notification.content)
      .member("notifiedAt", notification.notifiedAt);
  return eventText(
      {.id = notification.position, .event = "notification", .data = json.endObject().take()});
}

}  // namespace

// Browsers send no headers of ours with an EventSource, but bring back the id of the last event.
ListenerQuery parseListener(const Asked& asked) {
  const auto& named = asked.request().getParameter("festival");
  ListenerQuery query{named.empty() ? festivalIdIn(asked) : parseId(named, inQuery("festival")),
                      {}};
  const auto& last = asked.request().getHeader("last-event-id");
  if (last.empty()) return query;
  if (last.size() <= kMaxEventId) query.resumeFrom = Snapshot::parse(last);
  if (!query.resumeFrom)
    throw invalidParameter(inHeader("Last-Event-ID"), "이 서비스가 보낸 이벤트의 id여야 합니다.",
                           "must be the id of an event that this service has sent");
  return query;
}

NotificationFeed::NotificationFeed(const NotificationService& outbox)
    : PeriodicTask(kNotificationsEvery, {.fails = "notifications cannot be read",
                                         .worksAgain = "notifications are read again"}),
      outbox_(outbox) {}

void NotificationFeed::add(ListenerQuery listener, std::unique_ptr<EventSink> sink) {
  Reader reader{
      .number = ++numbers_,
      .festivalId = listener.festivalId,
      .resumeFrom = std::move(listener.resumeFrom),
      .sink = std::move(sink),
      .patience = {},
      // With the first look, so that a listener that loses its connection soon can come back, too.
      .quietRounds = kQuietNotificationRounds - 1};
  readers_.add(std::move(reader), [](Reader& one) { return one.sink->send(kComeBackSoon); });
}

// The words for what one look has found: for most listeners of a festival the same ones.
class NotificationFeed::Telling {
 public:
  explicit Telling(const NotificationService::News& news) : news_(news) {
    for (const auto& notification : news.unseen)
      byFestival_[notification.festivalId].all.push_back(&notification);
  }

  const NotificationService::News& news() const { return news_; }

  // The events of the festival, without those that `told` has seen. Empty when there are none.
  std::string text(std::int64_t festivalId, const std::optional<Snapshot>& told) {
    const auto found = byFestival_.find(festivalId);
    if (found == byFestival_.end()) return "";
    auto& festival = found->second;
    std::vector<const Notification*> unseen;
    for (const auto* const notification : festival.all)
      if (!told || !told->sees(notification->xid)) unseen.push_back(notification);
    if (unseen.size() < festival.all.size()) return rendered(unseen);
    if (festival.text.empty()) festival.text = rendered(festival.all);
    return festival.text;
  }

 private:
  struct Festival {
    std::vector<const Notification*> all;
    std::string text;  // all of them, as soon as it is needed
  };

  static std::string rendered(const std::vector<const Notification*>& notifications) {
    std::string text;
    for (const auto* const notification : notifications) text += eventOf(*notification);
    return text;
  }

  const NotificationService::News& news_;
  std::map<std::int64_t, Festival> byFestival_;
};

bool NotificationFeed::goesOn(Reader& reader, Telling& telling) const {
  const bool isBehind = reader.sink->isBehind();
  if (!reader.patience.lasts(std::chrono::steady_clock::now(), isBehind)) return false;
  // It has been told what the look before this one had seen.
  const auto tellLater = [&] { reader.resumeFrom = reader.told ? reader.told : seen_; };
  if (isBehind && !reader.resumeFrom) tellLater();
  if (reader.resumeFrom) return reader.sink->isConnected();
  auto text = telling.text(reader.festivalId, reader.told);
  if (text.size() > 2 * kReturnPage.bytes) {  // in pages
    tellLater();
    return reader.sink->isConnected();
  }
  if (telling.news().isComplete) reader.told.reset();
  if (text.empty() && ++reader.quietRounds < kQuietNotificationRounds)
    return reader.sink->isConnected();
  reader.quietRounds = 0;
  if (text.empty()) text = eventText({.id = telling.news().seen.text()});
  return reader.sink->send(text);
}

std::vector<NotificationFeed::Return> NotificationFeed::returns() const {
  std::vector<Return> some;
  const auto add = [&](const Reader& reader) {
    const auto isKnown = [&](const Return& back) { return back.isOf(reader); };
    if (some.size() == kReturnWork.reads || !reader.resumeFrom || !reader.sink->takesPages() ||
        std::ranges::any_of(some, isKnown))
      return;
    some.push_back({reader.number, reader.festivalId, *reader.resumeFrom});
  };
  readers_.each([&](const Reader& reader) {
    if (reader.number > lastWelcomed_) add(reader);
  });
  readers_.each([&](const Reader& reader) {
    if (reader.number <= lastWelcomed_) add(reader);
  });
  return some;
}

// Runs between two looks: listeners are told what the last look has seen; the next one finds the
// rest.
drogon::Task<std::size_t> NotificationFeed::welcome(Return back) {
  const auto page = kReturnPage;
  const auto missed = co_await outbox_.since(back.from, back.festivalId, page);
  const auto text = Telling(missed).text(back.festivalId, {});
  readers_.keepIf([&](Reader& reader) {
    if (!back.isOf(reader) || !reader.sink->takesPages()) return true;
    reader.resumeFrom.reset();
    (missed.isComplete ? reader.told : reader.resumeFrom) = missed.seen;
    return text.empty() || reader.sink->send(text);
  });
  co_return missed.bytes;
}

drogon::Task<bool> NotificationFeed::tellNews() {
  const NotificationService::Page page;
  const auto news = co_await outbox_.since(seen_, std::nullopt, page);
  Telling telling(news);
  readers_.keepIf([&](Reader& reader) { return goesOn(reader, telling); });
  seen_ = news.seen;
  co_return news.isComplete;
}

drogon::Task<> NotificationFeed::work() {
  bool isComplete = false;
  for (int page = 0; page < kMostPages && !isComplete && !isStopped(); ++page) {
    const bool wasLast = co_await tellNews();
    isComplete = wasLast;
  }
  co_await welcomeSome();
}

drogon::Task<> NotificationFeed::welcomeSome() {
  using Clock = std::chrono::steady_clock;
  const auto some = returns();
  LookBudget budget(kReturnWork, Clock::now());
  for (const auto& back : some) {
    if (isStopped() || budget.isSpent(Clock::now())) break;
    lastWelcomed_ = back.number;
    const auto bytes = co_await welcomeOrEnd(back);
    // A database that is away would keep the others waiting once for each of them.
    if (!bytes) break;
    budget.read(*bytes);
  }
}

drogon::Task<std::optional<std::size_t>> NotificationFeed::welcomeOrEnd(Return back) {
  try {
    const auto bytes = co_await welcome(back);
    co_return bytes;
  } catch (const std::exception& error) {
    LOG_WARN << "listeners could not be told what they have missed: " << error.what();
  }
  readers_.keepIf([&](const Reader& reader) { return !back.isOf(reader); });
  co_return std::nullopt;
}

bool NotificationFeed::isDue() {
  bool hasReaders = false;
  readers_.each([&](const Reader&) { hasReaders = true; });
  if (!hasReaders && seen_ && ++idleRounds_ < kIdleRounds) return false;
  idleRounds_ = 0;
  return true;
}

}  // namespace festa
