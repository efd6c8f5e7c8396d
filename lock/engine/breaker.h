// Finds a broken storage broken once, instead of letting every request wait for its own time-out.
#pragma once

#include "lock/lock_storage.h"

#include <algorithm>
#include <mutex>

namespace festa::lock {

// Closed: calls go through. After `threshold` failures in a row it opens: calls are refused at
// once, except one probe per `pause`, whose success closes it again. Thread-safe; the caller passes
// the time in.
class Breaker {
 public:
  explicit Breaker(int threshold = 3, Millis pause = Millis{200})
      : threshold_(threshold), pause_(pause) {}

  // May this call go through? A true while open makes the caller the probe.
  bool mayTry(SteadyTime now) {
    const std::lock_guard guard(mutex_);
    if (failures_ < threshold_) return true;
    if (now < nextProbe_) return false;
    nextProbe_ = now + pause_;
    return true;
  }

  void succeeded() {
    const std::lock_guard guard(mutex_);
    failures_ = 0;
  }

  void failed(SteadyTime now) {
    const std::lock_guard guard(mutex_);
    failures_ = std::min(failures_ + 1, threshold_);
    if (failures_ == threshold_) nextProbe_ = now + pause_;
  }

  bool isOpen() const {
    const std::lock_guard guard(mutex_);
    return failures_ >= threshold_;
  }

 private:
  const int threshold_;
  const Millis pause_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  int failures_ = 0;  // in a row, up to threshold_
  SteadyTime nextProbe_;
};

}  // namespace festa::lock
