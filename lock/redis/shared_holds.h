// Holds under which several tickets of this process have their turn, one after the other.
#pragma once

#include "lock/redis/due_times.h"
#include "lock/redis/line_protocol.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace festa::lock {

// While a hold is young, the tickets that the server has named as its followers have the key
// without asking the server, each with the fence after the one before. The server knows the hold by
// the ticket of its leader. The followers keep their places in line until the hold is given back.
// Decisions only: no clock, no I/O. Not thread-safe.
class SharedHolds {
 public:
  // `grant` has become the holder by a command that was sent at `sent`. Returns the tickets that
  // had their turn under an earlier hold of the key which was not given back: their places are to
  // be left. Ignores a late reply about an earlier hold.
  std::vector<std::string> begin(const LockKey& key, const LineReply::Grant& grant, Millis lease,
                                 SteadyTime sent);

  enum class Turn {
    kAlone,  // its hold is not shared
    kNow,
    kOver,  // a follower has the key since
  };
  Turn turnOf(const Lease& lease) const;

  // The next follower, or nullopt: there is none, or the hold is not young any more. A follower
  // that does not take its turn is passed, and its fence is not used.
  std::optional<std::string> nextFollower(const LockKey& key, SteadyTime now);
  // The lease of the follower that was named last.
  Lease giveTurn(const LockKey& key, std::string ticket);

  // The ticket by which the server knows the hold.
  std::string leaderOf(const Lease& lease) const;
  // Nobody follows from here on: the fence of the holder may become a later one than theirs.
  void endTurns(const LockKey& key);
  void endAllTurns();
  void prolonged(const Lease& lease);

  // Forgets the hold. The command that gives it back, with the followers that had a turn.
  LeaveCommand leave(const Lease& lease);

  // A hold that was not given back in time: its followers' places are to be left. It may still be
  // given back, or prolonged. nullopt: there is none.
  std::optional<AbandonCommand> takeOld(SteadyTime now);
  std::optional<SteadyTime> nextAt() const { return due_.nextAt(); }

 private:
  struct Shared {
    std::string leader;
    std::string holder;                 // whose turn it is
    std::vector<std::string> past;      // followers that have had their turn, and the holder
    std::vector<std::string> upcoming;  // the next one last
    std::int64_t fence = 0;             // of the holder
    SteadyTime validUntil;
    SteadyTime youngUntil;  // nobody's turn begins later
  };

  // nullptr: the hold of this lease is not shared.
  const Shared* find(const Lease& lease) const;
  void sweep(SteadyTime now);

  std::unordered_map<LockKey, Shared> holds_;
  DueTimes due_;  // validUntil of those of which a follower has had a turn
};

}  // namespace festa::lock
