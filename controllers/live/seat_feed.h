// Tells the watchers of a hall which seats are sold.
#pragma once

#include "controllers/live/event_sink.h"
#include "controllers/live/look_turn.h"
#include "controllers/live/readers.h"
#include "controllers/live/watcher_pace.h"
#include "services/seats/performance_service.h"
#include "services/seats/seat_picture.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace trantor {
class EventLoop;
}

namespace festa {

// How a hall is written in a stream. Thread-safe.
class SeatEvents {
 public:
  virtual ~SeatEvents() = default;
  virtual std::string snapshot(const SeatPicture& picture) const = 0;
  virtual std::string changes(const SeatChanges& changes) const = 0;
};

// State, not history: while halls are watched, their sold seats are read at most four times a
// second, one hall after the other, and the reads of this process take at most a quarter of the
// time of one connection; there is a look every two seconds, however slow they are. A look reads
// for a tenth of a second, by hallOrder(): the halls that most addresses watch are in every look,
// the others take turns. What has changed is written once and sent to all watchers of the hall;
// nothing is added to a sale. Thread-safe.
class SeatFeed : public std::enable_shared_from_this<SeatFeed> {
 public:
  // Both outlive the feed.
  SeatFeed(const PerformanceService& performances, const SeatEvents& events)
      : performances_(performances), events_(events) {}

  // Once, when the loop runs. Database clients belong to it: an IO loop.
  void start(trantor::EventLoop* loop);
  // Ends all streams; there will be no more.
  void close();
  bool isClosed() const;
  // Waits for the look that is under way; there will be no more. While the loop still runs, and not
  // on it.
  void stop();

  // A snapshot at once or after the first look at the hall, then every change.
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
    std::string snapshot;  // of the picture, as it is sent; empty before the first look
    Clock::time_point lastLook{};
  };

  void tick();
  drogon::AsyncTask look();
  // Why the hall could not be read; empty: it was.
  drogon::Task<std::string> lookAt(std::int64_t performanceId);
  // Says once that looks fail or work again. Empty: it worked.
  void report(const std::string& failure);
  // In the order in which they are to be read. Forgets halls without watchers.
  std::vector<std::int64_t> watched();
  void tell(std::int64_t performanceId, SeatPicture picture);
  // False: its stream is to end.
  static bool tellOne(Watcher& watcher, const Hall& hall, const std::string& changes);

  const PerformanceService& performances_;
  const SeatEvents& events_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Hall> halls_;  // guarded by mutex_
  bool closed_ = false;                 // guarded by mutex_
  LookTurn turn_;
  // on the loop only
  Clock::time_point due_;
  bool hasFailed_ = false;  // the last look
};

}  // namespace festa
