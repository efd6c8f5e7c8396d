// How long and how many: what the processes and the server agree on in the lines for locks.
#pragma once

#include "lock/lock_storage.h"

namespace festa::lock {

// Redis ends a key within a millisecond or so of its time.
constexpr Millis kLookMargin{5};
// Longest time from an offer to its confirmation.
constexpr Millis kOfferTime{500};
// An offer that was not confirmed is known for this long, so that the next process to look at the
// key takes its receiver for dead.
constexpr Millis kMissedOfferTime{60'000};
// A process that has not been heard of for this long has no place in line.
constexpr Millis kAliveTime{2000};
// Leases of this length may be granted by message to a process that is ready; others are offered. A
// receiver that has died costs the others one such lease. Its other tickets cost them nothing: its
// process is forgotten before the lease ends.
constexpr Millis kShortestReadyLease = kAliveTime;
constexpr Millis kLongestReadyLease{5000};
// Most that follow a holder one after the other before the server is asked again, where each has
// its own place in line.
constexpr int kFollowers = 7;
// Most that have the key under one hold after the one to whom it was granted.
constexpr int kMostFollowers = 255;
// Most turns of one process in a row while another one waits, where a process has one place.
constexpr int kInARow = 16;
// A follower's turn begins only while the hold is younger than this.
constexpr Millis youngTime(Millis lease) {
  return lease / 8;
}
// What the last follower has of the lease, at least, when its turn begins.
constexpr Millis leastFollowerTime(Millis lease) {
  return lease - driftMargin(lease) - youngTime(lease);
}
// Places of dead processes taken out of a line in one step.
constexpr int kDeadPerStep = 1000;

}  // namespace festa::lock
