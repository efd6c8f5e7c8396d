// Who holds which key and who waits for it, in one process: decisions only, no clock, no threads,
// no I/O.
#pragma once

#include "lock/fence.h"
#include "lock/lock_storage.h"

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

namespace festa::lock {

using WaiterId = std::uint64_t;

struct LockTableLimits {
  std::size_t waitersPerKey = 10'000;
  std::size_t waitersInAll = 50'000;
};

// FIFO per key. A hold ends by release or when its lease is over; whoever is first in line is
// granted next. The caller passes the time in and carries the returned grants out. Not thread-safe.
class LockTable {
 public:
  struct Grant {
    WaiterId waiter = 0;
    Lease lease;
  };
  struct Queued {
    SteadyTime holderExpiresAt;
  };
  struct Refused {};  // the queues are full
  using Arrival = std::variant<Grant, Queued, Refused>;

  LockTable(std::int64_t epoch, std::string ownerPrefix, LockTableLimits limits);

  // A new request. Overtakes nobody: with others in line it queues even when the key happens to be
  // free.
  Arrival arrive(WaiterId waiter, const LockKey& key, Millis lease, SteadyTime now);

  // The same without queueing: nullopt when the key is held or waited for.
  std::optional<Grant> tryArrive(const LockKey& key, Millis lease, SteadyTime now);

  // Takes a waiter out of the line. False: it is not in line, its grant has been made.
  bool cancel(WaiterId waiter, const LockKey& key);

  // Ends a hold; `released` is false when it is not (or no longer) this owner's. `next` is the next
  // holder, if any.
  struct Release {
    bool released = false;
    std::optional<Grant> next;
  };
  Release release(const LockKey& key, const std::string& owner, SteadyTime now);

  // Grants the first in line if the holder's lease is over. Nullopt: it is not, or nobody waits.
  std::optional<Grant> expire(const LockKey& key, SteadyTime now);

  // See LockStorage::extend.
  bool extend(Lease& lease, const Extension& extension, SteadyTime now);

  // When the current hold ends, if anybody waits for that; nullopt: nobody does.
  std::optional<SteadyTime> contendedUntil(const LockKey& key) const;

  // Forgets holds whose lease is over and that nobody waits for: holders that never came back.
  void sweep(SteadyTime now);

  // Empties all lines.
  void dropWaiters();

  std::size_t keys() const { return entries_.size(); }
  std::size_t waiters() const { return waiters_; }

 private:
  struct Waiter {
    WaiterId id;
    Millis lease;
  };
  struct Entry {
    std::string owner;  // never empty; its lease may be over, though
    SteadyTime expiresAt;
    std::deque<Waiter> line;
  };
  using Entries = std::unordered_map<LockKey, Entry>;

  Grant grant(const LockKey& key, Entry& entry, WaiterId waiter, Millis lease, SteadyTime now);
  std::optional<Grant> grantFirstInLine(Entries::iterator entry, SteadyTime now);
  void sweepNowAndThen(SteadyTime now);
  static bool isFree(const Entry& entry, SteadyTime now);

  const std::string ownerPrefix_;
  const LockTableLimits limits_;
  FenceCounter fences_;
  std::uint64_t acquisitions_ = 0;
  std::uint64_t arrivals_ = 0;
  Entries entries_;          // keys that have a holder
  std::size_t waiters_ = 0;  // sum of all lines
};

}  // namespace festa::lock
