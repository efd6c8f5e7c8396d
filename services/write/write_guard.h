// What protects one write, as plain values: services know nothing of locks.
#pragma once

#include "services/write/hold.h"
#include "services/write/write_observer.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace festa {

// Protection inside the transaction. Rows of the strategy table that take no lock before it.
enum class Guard {
  kNone,            // nothing inside: a lock around the transaction, or no protection at all
  kConstraint,      // constraints and atomic statements
  kRepeatableRead,  // an isolation level that does not help; a negative control
  kSerializable,    // SERIALIZABLE, repeated on conflict
  kRowLock,         // pessimistic: a row lock on the parent
  kVersion,         // optimistic: the parent's version is compared at the end, repeated on conflict
  kAdvisory,        // the named lock: an advisory lock on the key
};

// Lives in the frame of the coroutine that serves the request, for one write.
struct WriteGuard {
  Guard inside = Guard::kNone;
  // The lock's token; none without a lock.
  std::optional<std::int64_t> fence = {};
  std::string key = {};                      // of the lock, for kAdvisory
  std::chrono::milliseconds lockWait{5000};  // for guards that wait inside the database
  Hold* hold = nullptr;                      // nullptr: no lock was taken
  WriteObserver* observer = nullptr;         // may be null

  SteadyTime validUntil() const { return hold != nullptr ? hold->validUntil() : SteadyTime::max(); }
};

}  // namespace festa
