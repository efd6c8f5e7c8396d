// When to renew a lease, and for how long.
#pragma once

#include "lock/lock_storage.h"

#include <algorithm>
#include <optional>

namespace festa::lock {

// A third of a lease after the last renewal, so that two attempts may fail; never beyond `maxHold`
// after the grant. Pure: the caller passes the time in, asks the storage and says what came of it.
class Renewal {
 public:
  Renewal(Millis lease, Millis maxHold, SteadyTime granted)
      : lease_(lease),
        end_(granted + maxHold),
        heldUntil_(granted + lease),
        due_(granted + lease / 3) {}

  // The moment of the next attempt; nullopt: the hold lasts as long as it ever will.
  std::optional<SteadyTime> due() const {
    return heldUntil_ < end_ ? std::optional(due_) : std::nullopt;
  }

  // What to ask for now: a lease, or what is left of maxHold. Zero or less: nothing is left.
  Millis leaseFrom(SteadyTime now) const {
    return std::min(lease_, std::chrono::floor<Millis>(end_ - now));
  }

  // leaseFrom(asked) was granted.
  void renewed(SteadyTime asked) {
    // The rest of maxHold is asked for once, less what is no whole millisecond.
    heldUntil_ = leaseFrom(asked) < lease_ ? end_ : asked + lease_;
    due_ = asked + lease_ / 3;
  }

  // Not known; soon once more.
  void failed(SteadyTime now) { due_ = now + std::clamp(lease_ / 30, Millis{1}, Millis{100}); }

 private:
  const Millis lease_;
  const SteadyTime end_;
  SteadyTime heldUntil_;
  SteadyTime due_;
};

}  // namespace festa::lock
