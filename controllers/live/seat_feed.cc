#include "controllers/live/seat_feed.h"

#include "controllers/json/json_writer.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace festa {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{50};
constexpr milliseconds kLookEvery{250};
constexpr int kPauseFactor = 3;  // a look of 100 ms is followed by a pause of 300 ms
constexpr milliseconds kLongestPause{2000};
constexpr milliseconds kReadFor{100};  // in one look
// So many halls are read in each look, however long they take: the heaviest one, and one whose turn
// it is.
constexpr std::size_t kLeastHalls = 2;

void writeSeats(JsonWriter& json, const char* name, const std::vector<NumberedSeat>& seats) {
  json.key(name).beginArray();
  for (const auto& seat : seats)
    json.beginArray().value(seat.location).value(std::int64_t{seat.number}).endArray();
  json.endArray();
}

// {"sold":[[location,number]],"free":[…]}
std::string changesEvent(const SeatChanges& changes) {
  JsonWriter json;
  json.beginObject();
  writeSeats(json, "sold", changes.sold);
  writeSeats(json, "free", changes.free);
  return eventText({.event = "changes", .data = json.endObject().take()});
}

}  // namespace

std::vector<std::int64_t> hallOrder(const std::vector<HallTurn>& halls) {
  auto byWeight = halls;
  auto byAge = halls;
  std::ranges::stable_sort(byWeight, std::ranges::greater(), &HallTurn::weight);
  std::ranges::stable_sort(byAge, std::ranges::less(), &HallTurn::lastLook);
  std::vector<std::int64_t> order;
  std::unordered_set<std::int64_t> known;
  const auto add = [&](std::int64_t id) {
    if (known.insert(id).second) order.push_back(id);
  };
  for (std::size_t i = 0; i < halls.size(); ++i) {
    add(byWeight[i].id);
    add(byAge[i].id);
  }
  return order;
}

std::string snapshotEvent(const SeatPicture& picture) {
  JsonWriter json;
  json.beginObject().key("sections").beginArray();
  for (const auto& section : picture)
    json.beginObject()
        .member("location", section.location)
        .member("count", std::int64_t{section.count})
        .member("sold", drogon::utils::base64Encode(section.sold))
        .endObject();
  return eventText({.event = "snapshot", .data = json.endArray().endObject().take()});
}

SeatFeed::SeatFeed(const PerformanceService& performances)
    : PeriodicTask(kTick, {.fails = "the seats of watched halls cannot be read",
                           .worksAgain = "the seats of watched halls are read again"}),
      performances_(performances) {}

void SeatFeed::close() {
  const std::lock_guard guard(mutex_);
  closed_ = true;
  for (auto& [id, hall] : halls_) hall.watchers.close();
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

drogon::Task<> SeatFeed::work() {
  const auto halls = watched();
  const auto began = Clock::now();
  std::exception_ptr failure;
  for (std::size_t i = 0; i < halls.size(); ++i) {
    const bool hasTime = i < kLeastHalls || Clock::now() - began < kReadFor;
    // A database that is away would take its time for each of them.
    if (isStopped() || failure || !hasTime) break;
    failure = co_await lookAt(halls[i]);
  }
  const auto ended = Clock::now();
  const auto pause = std::min<Clock::duration>(kPauseFactor * (ended - began), kLongestPause);
  if (!halls.empty()) due_ = std::max(began + kLookEvery, ended + pause);
  if (failure) std::rethrow_exception(failure);
}

drogon::Task<std::exception_ptr> SeatFeed::lookAt(std::int64_t performanceId) {
  SeatPicture picture;
  std::exception_ptr failure;
  try {
    picture = co_await performances_.soldSeats(performanceId);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  tell(performanceId, std::move(picture));
  co_return failure;
}

void SeatFeed::tell(std::int64_t performanceId, SeatPicture picture) {
  const std::lock_guard guard(mutex_);
  const auto found = halls_.find(performanceId);
  if (found == halls_.end()) return;
  auto& hall = found->second;
  hall.lastLook = Clock::now();
  std::string changes;
  // The picture is empty when it could not be read. The watchers keep the last one.
  if (!picture.empty() && picture != hall.picture) {
    const auto different = changesBetween(hall.picture, picture);
    hall.snapshot = snapshotEvent(picture);
    hall.picture = std::move(picture);
    changes = different ? changesEvent(*different) : hall.snapshot;
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
