// Keeps a lease from ending while its handler runs.
#pragma once

#include "lock/engine/renewal.h"
#include "lock/lock_hold.h"
#include "lock/lock_observer.h"

#include <trantor/net/EventLoop.h>

#include <memory>

namespace festa::lock {

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
