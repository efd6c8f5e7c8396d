// Tells the watchers of a hall which seats are sold.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/readers.h"
#include "services/periodic_task.h"
#include "services/seats/performance_service.h"
#include "services/seats/seat_picture.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace festa {

// What one watcher of a hall is told after a look at the hall. Every watcher begins with a
// snapshot. One that reads too slowly is told nothing until it has caught up, and then gets a
// snapshot: its changes are not kept. Pure; not thread-safe.
class WatcherPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Say { kNothing, kSnapshot, kChanges, kComment, kEnd };

  static constexpr std::chrono::seconds kSilence{15};  // then a comment is sent

  explicit WatcherPace(Time now) : lastSaid_(now) {}

  // What to send now. The caller sends it, or ends the stream for kEnd.
  Say next(Time now, bool isBehind, bool hasChanges) {
    if (!patience_.lasts(now, isBehind)) return Say::kEnd;
    needsSnapshot_ = needsSnapshot_ || isBehind;
    if (isBehind) return Say::kNothing;
    if (!needsSnapshot_ && !hasChanges && now - lastSaid_ < kSilence) return Say::kNothing;
    lastSaid_ = now;
    if (needsSnapshot_) {
      needsSnapshot_ = false;
      return Say::kSnapshot;
    }
    return hasChanges ? Say::kChanges : Say::kComment;
  }

 private:
  Time lastSaid_;
  bool needsSnapshot_ = true;
  ReaderPatience patience_;
};

struct HallTurn {
  std::int64_t id;
  double weight;  // the shares of its watchers, see EventSink::shareOfAddress()
  std::chrono::steady_clock::time_point lastLook;
};

// The order in which a look reads the watched halls: by turns the heaviest one and the one that was
// not looked at for the longest time. An address weighs 1 in all, however many streams it has in
// however many halls: it cannot push the halls of others back, and each hall has its turn. Pure.
std::vector<std::int64_t> hallOrder(const std::vector<HallTurn>& halls);

// The event `snapshot`: {"sections":[{location,count,sold}]}, where `sold` is the bitmap in base64.
std::string snapshotEvent(const SeatPicture& picture);

// State, not history: while halls are watched, their sold seats are read at most four times a
// second, one hall after the other, and the reads of this process take at most a quarter of the
// time of one connection; there is a look every two seconds, however slow they are. A look reads
// for a tenth of a second, by hallOrder(): the halls that most addresses watch are in every look,
// the others take turns. What has changed is written once and sent to all watchers of the hall;
// nothing is added to a sale. Thread-safe. The website starts it on an IO loop, closes it when it
// refuses requests, and stops it before the database clients end.
class SeatFeed : public PeriodicTask {
 public:
  // `performances` outlives stop().
  explicit SeatFeed(const PerformanceService& performances);

  // Ends all streams; there will be no more.
  void close();
  bool isClosed() const;

  // Tells a snapshot, at once or after the first look at the hall, and then every change.
  void add(std::int64_t performanceId, std::unique_ptr<EventSink> sink);

  std::size_t watchers() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Watcher {
    std::unique_ptr<EventSink> sink;
    WatcherPace pace;
  };
  struct Hall {
    Readers<Watcher> watchers;
    SeatPicture picture;
    std::string snapshot;  // the picture as it is sent; empty before the first look
    Clock::time_point lastLook{};
  };

  bool isDue() override { return Clock::now() >= due_; }
  drogon::Task<> work() override;
  // Returns why the hall could not be read; null when it was.
  drogon::Task<std::exception_ptr> lookAt(std::int64_t performanceId);
  // The watched halls in the order in which they are to be read. Forgets those without watchers.
  std::vector<std::int64_t> watched();
  void tell(std::int64_t performanceId, SeatPicture picture);
  // Returns false when the watcher's stream is to end.
  static bool tellOne(Watcher& watcher, const Hall& hall, const std::string& changes);

  const PerformanceService& performances_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Hall> halls_;  // guarded by mutex_
  bool closed_ = false;                 // guarded by mutex_
  Clock::time_point due_;               // when the next look is; on the loop only
};

}  // namespace festa
