// Holds of this process under which several tickets have the key.
#pragma once

#include "lock/redis/line/due_times.h"
#include "lock/redis/line/line_protocol.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace festa::lock {

// While a hold is young, others of this process have the key under it without asking the server:
// those that the server has named, and waiters that it does not know. Each has the fence after the
// one before. A turn is one ticket, or several that hold the key together; the next turn begins
// when all of them have given it back. The server knows the hold by the ticket of its leader. Named
// followers keep their places in line until the hold is given back. Decisions only: no clock, no
// I/O. Not thread-safe.
class SharedHolds {
 public:
  struct Begin {
    Millis lease;
    SteadyTime sent;      // the command by which it became the holder
    bool isKept = false;  // remember the hold even when the grant allows no follower
    int turns = 1;        // of this process in a row, this one included
  };
  // `grant` has become the holder. Returns the tickets that had their turn under an earlier hold of
  // the key which was not given back: their places are to be left. Ignores a late reply about an
  // earlier hold.
  std::vector<std::string> begin(const LockKey& key, const LineReply::Grant& grant, Begin how);

  enum class Turn {
    kAlone,  // its hold is not known here
    kNow,
    kOver,  // others have the key since
  };
  Turn turnOf(const Lease& lease) const;

  // The hold that is not over; nullopt: there is none.
  struct Held {
    Millis lease;
    SteadyTime validUntil;
    int turns;
  };
  std::optional<Held> held(const LockKey& key, SteadyTime now) const;

  // The following are about a key whose hold is known.

  // Whether one more may have the key under the hold: it is young, and a fence is left.
  bool mayFollow(const LockKey& key, SteadyTime now) const;
  // The next one that the server has named; nullptr: there is none.
  const std::string* named(const LockKey& key) const;
  // The named one does not take its turn. Its fence is the next one's.
  void pass(const LockKey& key);
  // The ticket has the key now, with those whose turn it is. `isNamed`: it is named().
  Lease join(const LockKey& key, std::string ticket, bool isNamed);
  // The turn of this lease is kNow. Returns true when it was the last one of its turn.
  bool leaveTurn(const Lease& lease);
  void beginTurn(const LockKey& key);

  // The ticket by which the server knows the hold.
  std::string leaderOf(const Lease& lease) const;
  // No waiter follows from here on: the fence of the holder may become a later one than theirs.
  void endTurns(const LockKey& key);
  void endAllTurns();
  void prolonged(const Lease& lease);

  // Forgets the hold. The command that gives it back, with the followers that had a turn.
  LeaveCommand leave(const LockKey& key);

  // A hold that was not given back in time: its followers' places are to be left. It may still be
  // given back, or prolonged. nullopt: there is none.
  std::optional<AbandonCommand> takeOld(SteadyTime now);
  std::optional<SteadyTime> nextAt() const { return due_.nextAt(); }

 private:
  struct Shared {
    std::string leader;
    std::vector<std::string> holders;   // whose turn it is
    std::vector<std::string> past;      // named followers that have had their turn, or have it
    std::vector<std::string> upcoming;  // named, the next one last
    std::int64_t fence = 0;             // of the ticket that has joined last
    std::int64_t lastFence = 0;         // that belongs to the hold
    Millis lease;
    SteadyTime validUntil;
    SteadyTime youngUntil;  // no waiter joins later
    int turns = 1;
  };

  // nullptr: the hold of this lease is not known.
  const Shared* find(const Lease& lease) const;
  void sweep(SteadyTime now);

  std::unordered_map<LockKey, Shared> holds_;
  DueTimes due_;  // validUntil of those of which a named follower has had a turn
};

}  // namespace festa::lock
