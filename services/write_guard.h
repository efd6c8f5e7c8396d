// What protects one write, as plain values: services know nothing of locks.
#pragma once

#include "services/transaction.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace festa {

// Protection inside the transaction. Rows of the strategy table that take no lock before it.
enum class Guard {
  kNone,            // nothing inside: a lock around the transaction, or no protection at all
  kConstraint,      // constraints and atomic statements
  kRepeatableRead,  // an isolation level that does not help; a negative control
};

// Lives in the frame of the coroutine that serves the request, for one write.
struct WriteGuard {
  Guard inside = Guard::kNone;
  bool backstop = true;                       // constraints hold whatever else fails
  std::optional<std::int64_t> fence = {};     // the lock's token; none without lock or backstop
  SteadyTime validUntil = SteadyTime::max();  // the lease
  // A token above the given one under the same lock; nullopt: the lock is lost.
  std::function<drogon::Task<std::optional<std::int64_t>>(std::int64_t above)> renewFence = {};
  // Called when nobody knows whether COMMIT happened: the lock must not be given back before its
  // lease ends.
  std::function<void()> commitUnknown = {};
  std::function<drogon::Task<>()> beforeCommit = {};  // see TransactionOptions

  bool usesConstraints() const { return backstop || inside == Guard::kConstraint; }
};

}  // namespace festa
