// Runs races of the lab, one at a time, and remembers the last few.
#pragma once

#include "app/config/config.h"
#include "app/lab/race/race_crowd.h"
#include "app/lab/race/race_record.h"
#include "app/lab/race/race_watcher.h"

#include <trantor/net/EventLoopThread.h>

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

namespace festa {

// Only a lab start makes one. Thread-safe. A race has a thread of its own, which waits for the
// database, and its crowd has a loop of its own.
class RaceDesk {
 public:
  static constexpr std::size_t kRemembered = 5;

  // Both outlive stop().
  RaceDesk(const Config& config, const TokenService& tokens);
  ~RaceDesk();
  RaceDesk(const RaceDesk&) = delete;
  RaceDesk& operator=(const RaceDesk&) = delete;

  // The race that has begun. Throws ServiceError(kRaceRunning) while another runs, and
  // kShuttingDown after close().
  std::shared_ptr<const RaceRecord> start(RaceWish wish);

  // Throws ServiceError(kRaceNotFound), also for one that is forgotten.
  std::shared_ptr<const RaceRecord> find(std::int64_t id) const;
  std::vector<std::shared_ptr<const RaceRecord>> all() const;  // the newest first

  // Sends the events of the race from its beginning on until it is over, then ends the stream. Ends
  // it at once after close().
  void watch(std::shared_ptr<const RaceRecord> race, std::unique_ptr<EventSink> out);

  // Ends the streams; the crowd of the race that runs sends no more requests.
  void close();
  // The same, and returns when the race has ended, also if the database hangs. Not on an event
  // loop.
  void stop();

 private:
  void run(RaceRecord& race);
  void runStrategy(RaceRecord& race, const std::string& strategy, RaceCrowd& crowd,
                   PgSession& session);
  void tellWatchers();

  const Config& config_;
  const TokenService& tokens_;
  const RaceDoor door_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::deque<std::shared_ptr<RaceRecord>> races_;  // the newest first
  std::int64_t lastId_;
  std::list<RaceWatcher> watchers_;
  bool isClosed_ = false;
  RaceCrowd* crowd_ = nullptr;  // crowd of the race that runs
  std::thread runner_;
  // The last: it ends first, and with it the timer that uses the others.
  trantor::EventLoopThread crowdLoop_;
};

}  // namespace festa
