#include "controllers/live/seat_feed.h"

#include "controllers/live/hall_order.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>

namespace festa {

namespace {

using std::chrono::milliseconds;

constexpr double kTick = 0.05;
constexpr milliseconds kLookEvery{250};
constexpr std::chrono::seconds kLongestLook{5};
constexpr int kPauseFactor = 3;  // a look of 100 ms is followed by a pause of 300 ms
constexpr milliseconds kLongestPause{2000};
constexpr milliseconds kReadFor{100};  // in one look
// Of each look, however long they take: the heaviest hall, and one whose turn it is.
constexpr std::size_t kLeastHalls = 2;

}  // namespace

void SeatFeed::start(trantor::EventLoop* loop) {
  loop->runEvery(kTick, [self = shared_from_this()] { self->tick(); });
}

void SeatFeed::close() {
  const std::lock_guard guard(mutex_);
  closed_ = true;
  for (auto& [id, hall] : halls_) hall.watchers.close();
}

void SeatFeed::stop() {
  turn_.stop(kLongestLook);
}

bool SeatFeed::isClosed() const {
  const std::lock_guard guard(mutex_);
  return closed_;
}

void SeatFeed::add(std::int64_t performanceId, std::unique_ptr<EventSink> sink) {
  Watcher watcher{std::move(sink), WatcherPace(Clock::now())};
  const std::lock_guard guard(mutex_);
  if (closed_) return;
  auto& hall = halls_[performanceId];
  const bool listens = hall.snapshot.empty() || tellOne(watcher, hall, "");
  if (listens) hall.watchers.add(std::move(watcher));
}

std::size_t SeatFeed::watchers() const {
  const std::lock_guard guard(mutex_);
  std::size_t count = 0;
  for (const auto& [id, hall] : halls_) count += hall.watchers.size();
  return count;
}

void SeatFeed::tick() {
  if (Clock::now() >= due_) look();
}

std::vector<std::int64_t> SeatFeed::watched() {
  const std::lock_guard guard(mutex_);
  std::vector<HallTurn> turns;
  for (auto& [id, hall] : halls_)
    hall.watchers.keepIf([](const Watcher& watcher) { return watcher.sink->isConnected(); });
  std::erase_if(halls_, [](const auto& hall) { return hall.second.watchers.size() == 0; });
  for (const auto& [id, hall] : halls_) {
    double weight = 0;
    hall.watchers.each([&](const Watcher& watcher) { weight += watcher.sink->shareOfAddress(); });
    turns.push_back({id, weight, hall.lastLook});
  }
  return hallOrder(turns);
}

drogon::AsyncTask SeatFeed::look() {
  const auto self = shared_from_this();
  if (!turn_.begin()) co_return;
  const auto halls = watched();
  const auto began = Clock::now();
  std::string failure;
  for (std::size_t i = 0; i < halls.size(); ++i) {
    const bool hasTime = i < kLeastHalls || Clock::now() - began < kReadFor;
    // A database that is away would take its time for each of them.
    if (turn_.isStopped() || !failure.empty() || !hasTime) break;
    failure = co_await lookAt(halls[i]);
  }
  report(failure);
  const auto ended = Clock::now();
  const auto pause = std::min<Clock::duration>(kPauseFactor * (ended - began), kLongestPause);
  if (!halls.empty()) due_ = std::max(began + kLookEvery, ended + pause);
  turn_.end();
}

drogon::Task<std::string> SeatFeed::lookAt(std::int64_t performanceId) {
  SeatPicture picture;
  std::string failure;
  try {
    picture = co_await performances_.soldSeats(performanceId);
  } catch (const std::exception& error) {
    failure = *error.what() == '\0' ? "unknown" : error.what();
  }
  tell(performanceId, std::move(picture));
  co_return failure;
}

void SeatFeed::report(const std::string& failure) {
  const bool fails = !failure.empty();
  if (fails && !hasFailed_) LOG_WARN << "the seats of watched halls cannot be read: " << failure;
  if (!fails && hasFailed_) LOG_WARN << "the seats of watched halls are read again";
  hasFailed_ = fails;
}

void SeatFeed::tell(std::int64_t performanceId, SeatPicture picture) {
  const std::lock_guard guard(mutex_);
  const auto found = halls_.find(performanceId);
  if (found == halls_.end()) return;
  auto& hall = found->second;
  hall.lastLook = Clock::now();
  std::string changes;
  // Empty: it could not be read. The watchers keep the last picture.
  if (!picture.empty() && picture != hall.picture) {
    const auto different = changesBetween(hall.picture, picture);
    hall.snapshot = events_.snapshot(picture);
    hall.picture = std::move(picture);
    changes = different ? events_.changes(*different) : hall.snapshot;
    // The state as a whole is never larger than what the hall's size makes it.
    if (changes.size() > hall.snapshot.size()) changes = hall.snapshot;
  }
  hall.watchers.keepIf([&](Watcher& watcher) {
    return watcher.sink->isConnected() &&
           (hall.snapshot.empty() || tellOne(watcher, hall, changes));
  });
}

bool SeatFeed::tellOne(Watcher& watcher, const Hall& hall, const std::string& changes) {
  using Say = WatcherPace::Say;
  switch (watcher.pace.next(Clock::now(), watcher.sink->isBehind(), !changes.empty())) {
    case Say::kNothing: return true;
    case Say::kSnapshot: return watcher.sink->send(hall.snapshot);
    case Say::kChanges: return watcher.sink->send(changes);
    case Say::kComment: return watcher.sink->send(kStillHere);
    case Say::kEnd: return false;
  }
  return false;
}

}  // namespace festa
