// The largest of the values of the last seconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>

namespace festa {

// A value counts for kSpan to 2 × kSpan: longer than the time between two readings by Prometheus,
// however many others read. Thread-safe.
class RecentWorst {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kSpan{15};

  void add(double value, Time now) {
    const std::lock_guard guard(mutex_);
    turn(now);
    current_ = std::max(current_, value);
  }

  // 0: there was none.
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
  double previous_ = 0;  // of the span before
};

}  // namespace festa
