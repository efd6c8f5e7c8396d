// The holders and waiters of all keys in one process: decisions only, no clock, no threads,
// no I/O.
#pragma once

#include "lock/fence.h"
#include "lock/memory/waiting_line.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace festa::lock {

// FIFO per key. A hold ends by release or when its lease is over; the first waiter in line is
// granted next. The caller passes the time in and carries the returned grants out. Not thread-safe.
class LockTable {
 public:
  struct Grant {
    WaiterId waiter = 0;
    Lease lease;
  };
  using Grants = std::vector<Grant>;  // one, or all members of a shared hold
  struct Queued {
    SteadyTime holderExpiresAt;
  };
  struct Refused {};  // the queues are full
  using Arrival = std::variant<Grant, Queued, Refused>;

  LockTable(std::int64_t epoch, std::string ownerPrefix, LockTableLimits limits);

  // A new request. Overtakes no waiter: with others in line it queues even when the key happens to
  // be free. The ids of waiters grow from call to call. See LockRequest for `together`.
  Arrival arrive(WaiterId waiter, const LockKey& key, Millis lease, SteadyTime now,
                 std::size_t together = 1);

  // The same without queueing: nullopt when the key is held or waited for.
  std::optional<Grant> tryArrive(const LockKey& key, Millis lease, SteadyTime now);

  // Takes a waiter out of the line. False: it is not in line, its grant has been made.
  bool cancel(WaiterId waiter, const LockKey& key);

  // Ends a hold, or one member's part in it; `released` is false when it is not (or no longer) this
  // owner's. `next` are the next holders, if the key has become free and has waiters.
  struct Release {
    bool released = false;
    Grants next = {};
  };
  Release release(const LockKey& key, const std::string& owner, SteadyTime now);

  // Grants the first in line if the holder's lease is over. Empty: it is not, or the line is empty.
  Grants expire(const LockKey& key, SteadyTime now);

  // See LockStorage::extend.
  bool extend(Lease& lease, const Extension& extension, SteadyTime now);

  // When the current hold ends, if the key has waiters; nullopt: it has none.
  std::optional<SteadyTime> contendedUntil(const LockKey& key) const;

  // Forgets holds whose lease is over and that have no waiters: holders that never came back.
  void sweep(SteadyTime now);

  // Empties all lines.
  void dropWaiters();

  std::size_t keys() const { return entries_.size(); }
  std::size_t waiters() const { return waiters_; }

 private:
  struct Entry {
    std::vector<std::string> owners;  // never empty; their lease may be over, though
    SteadyTime expiresAt;
    WaitingLine line;
  };
  using Entries = std::unordered_map<LockKey, Entry>;

  // A hold for one owner, who is alone in it until others join.
  Grant grant(const LockKey& key, Entry& entry, WaiterId waiter, Millis lease, SteadyTime now);
  Grants grantNext(Entries::iterator entry, SteadyTime now);
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
