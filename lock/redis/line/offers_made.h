// Keys that a step of this process has given to another one, by message.
#pragma once

#include "lock/redis/line/due_times.h"
#include "lock/redis/line/line_protocol.h"

#include <unordered_map>

namespace festa::lock {

// Says when to look whether the receiver has given the key back or confirmed its offer: it may be
// dead, and those behind it may not look for as long as the last holder's lease. Decisions only: no
// clock, no I/O. Not thread-safe.
class OffersMade {
 public:
  // Pause after a look that had no answer.
  static constexpr Millis kAgainAfterLoss{500};

  // `lasts`: the offer, or the lease of a key that was granted.
  void offered(const LockKey& key, Millis lasts, SteadyTime now);

  // A key to look at now. One look at a time for each key, however often it is offered; its end is
  // told by looked() or lost().
  std::optional<LockKey> takeDue(SteadyTime now) { return due_.takeDue(now); }
  // `unfinished`: see LineReply.
  void looked(const LockKey& key, bool unfinished, SteadyTime now);
  void lost(const LockKey& key, SteadyTime now);

  std::optional<SteadyTime> nextAt() const { return due_.nextAt(); }
  void clear();

 private:
  std::unordered_map<LockKey, SteadyTime> ends_;  // of what each key was given for last
  DueTimes due_;                                  // without those that are being looked at
};

}  // namespace festa::lock
