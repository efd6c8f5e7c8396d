// Tells whether something blocks an event loop.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace trantor {
class EventLoop;
}

namespace festa {

// The largest of the values of the last seconds. A value counts for kSpan to 2 × kSpan: longer than
// the time between two readings by Prometheus, however many others read. Thread-safe.
class RecentWorst {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kSpan{15};

  void add(double value, Time now) {
    const std::lock_guard guard(mutex_);
    turn(now);
    current_ = std::max(current_, value);
  }

  // Returns 0 when there was none.
  double worst(Time now) {
    const std::lock_guard guard(mutex_);
    turn(now);
    return std::max(current_, previous_);
  }

 private:
  void turn(Time now) {
    const auto passed = (now - began_) / kSpan;
    if (passed < 1) return;
    previous_ = passed == 1 ? current_ : 0;
    current_ = 0;
    began_ = now;
  }

  std::mutex mutex_;
  // guarded by mutex_
  Time began_{};
  double current_ = 0;   // since began_
  double previous_ = 0;  // in the span before
};

// Timers on the loops that notice how late they run. Thread-safe.
class LoopLag : public std::enable_shared_from_this<LoopLag> {
 public:
  // On every loop that is to be watched, once.
  void watch(trantor::EventLoop* loop);

  // The longest that any of them was late in the last RecentWorst::kSpan, in seconds.
  double worst() { return late_.worst(std::chrono::steady_clock::now()); }

 private:
  void tick(trantor::EventLoop* loop);

  RecentWorst late_;
};

}  // namespace festa
