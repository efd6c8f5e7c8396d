// What protects one write, as plain values: services know nothing of locks.
#pragma once

#include "services/transaction.h"
#include "services/write_observer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

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
  bool backstop = true;                    // constraints hold whatever else fails
  std::optional<std::int64_t> fence = {};  // the lock's token; none without lock or backstop
  Deadline validUntil = until(SteadyTime::max());  // the lease
  std::string key = {};                            // of the lock, for kAdvisory
  std::chrono::milliseconds lockWait{5000};        // for guards that wait inside the database
  // A token above the given one under the same lock; nullopt: the lock is lost.
  std::function<drogon::Task<std::optional<std::int64_t>>(std::int64_t above)> renewFence = {};
  // Called when nobody knows whether COMMIT happened: the lock must not be given back before its
  // lease ends.
  std::function<void()> commitUnknown = {};
  std::function<drogon::Task<>()> beforeCommit = {};  // see TransactionOptions
  std::shared_ptr<WriteObserver> observer = {};       // may be null

  bool usesConstraints() const { return backstop || inside == Guard::kConstraint; }
};

}  // namespace festa
