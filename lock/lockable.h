// A lock as a route declares it: what it guards, by which key, how long one waits and holds.
#pragma once

#include "lock/lock_storage.h"

#include <string>

namespace festa::lock {

struct Lockable {
  std::string name;           // in configuration, metrics and the middleware's name
  std::string key;            // template, see key_template.h
  std::string strategy = {};  // empty: the configured default
  Millis wait{5000};
  Millis lease{3000};
  Millis maxHold{0};  // renewed while the handler runs, up to this long in all; 0: never renewed
  bool failFast = false;      // do not wait; answer busyCode at once
  std::size_t together = 1;   // see LockRequest; above 1 the handler must gather, see LockHold
  std::string busyCode = {};  // for refuse() of a fail-fast lock, e.g. SEAT_BUSY
};

}  // namespace festa::lock
