// Keeps a lease from ending while its handler runs: when to renew it and for how long, and who
// asks.
#pragma once

#include "lock/lock_hold.h"
#include "lock/lock_observer.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <memory>
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

// Renews one hold as its Renewal says, on the request's loop, until the hold is released, left to
// expire or lost, or maxHold is reached. Nothing is asked of the storage after that; an answer
// that is still on its way then changes nothing.
//
// Ownership: by a shared_ptr, which the request's coroutine keeps while the handler runs. Its timer
// holds it weakly, a request to the storage strongly.
class Watchdog : public std::enable_shared_from_this<Watchdog> {
 public:
  // `hold` has been granted. `observer` outlives the watchdog.
  Watchdog(trantor::EventLoop* loop, std::shared_ptr<LockHold> hold, Renewal renewal,
           LockObserver& observer);

  void start() { schedule(); }

 private:
  void schedule();
  static drogon::AsyncTask renew(std::shared_ptr<Watchdog> self);

  trantor::EventLoop* const loop_;
  const std::shared_ptr<LockHold> hold_;
  Renewal renewal_;
  LockObserver& observer_;
};

}  // namespace festa::lock
