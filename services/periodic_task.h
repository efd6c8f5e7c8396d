// Work that is done again and again while the process serves.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace trantor {
class EventLoop;
}

namespace festa {

// Runs work() on an event loop, one run at a time: a tick during a run starts no other. A failure
// is logged when runs begin to fail and when they work again, not each time.
//
// Shared with the timer's closure, which a loop keeps longer than the timer. Whatever the work uses
// must outlive stop(). start() and stop() may be called on any thread; everything virtual is called
// on the loop.
class PeriodicTask : public std::enable_shared_from_this<PeriodicTask> {
 public:
  enum class FirstRun { kAtOnce, kAfterInterval };
  // Longer than a client waits for the database.
  static constexpr std::chrono::seconds kLongestRun{5};

  virtual ~PeriodicTask() = default;
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

  // Call it once, when the loop runs. The loop must have a database client if the work needs one.
  void start(trantor::EventLoop* loop);

  // No run begins afterwards. Waits for the run that is under way, at most for `limit`; not on the
  // loop, which must still run. Call it before Drogon quits, which destroys the database clients
  // while the loops still run.
  void stop(std::chrono::milliseconds limit = kLongestRun);

 protected:
  struct Texts {
    const char* fails;  // is followed by the reason
    const char* worksAgain;
  };

  PeriodicTask(std::chrono::milliseconds interval, Texts texts,
               FirstRun firstRun = FirstRun::kAtOnce)
      : interval_(interval), texts_(texts), firstRun_(firstRun) {}

  // A std::exception that it throws is a failure of this run.
  virtual drogon::Task<> work() = 0;
  // Called at every tick, also during a run. Returns false when there is nothing to do.
  virtual bool isDue() { return true; }
  // Logs one of the texts, as a warning by default.
  virtual void log(bool fails, const std::string& text) const;

  // A run that takes long asks this between its steps.
  bool isStopped() const;

 private:
  drogon::AsyncTask tick();
  bool begin();
  void end();
  void report(const std::string& failure);

  const std::chrono::milliseconds interval_;
  const Texts texts_;
  const FirstRun firstRun_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool isRunning_ = false;  // guarded by mutex_
  bool isStopped_ = false;  // guarded by mutex_
  bool hasFailed_ = false;  // the last run; on the loop only
};

}  // namespace festa
