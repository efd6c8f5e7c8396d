// The waiters of one process, and the lines in which they stand.
#pragma once

#include "lock/memory/waiting_line.h"

#include <map>
#include <unordered_map>

namespace festa::lock {

// Who of a process has a place in the server's line.
enum class LinePolicy {
  // RedisFairLockStorage. Every waiter has its own place in the server's line; a holder that gives
  // the key back hands it to the first of them directly. No waiter asks twice or overtakes another:
  // the order is strict, across processes. A process that misses an offer (it is frozen or dead)
  // loses its places in one step and takes new ones at the end when it wakes.
  //
  // While a hold is young, up to seven more of the same process who are next in line follow each
  // other under it without the server, each with its own fence and seven eighths of its lease at
  // least.
  //
  // A process whose messages arrive is granted a key by message (leases of 2 to 5 s, no neighbour
  // of the process directly behind). If it is dead, that costs the others the lease.
  //
  // Lock and unlock are one command each at most, contended or not; an offer to another process
  // adds its confirmation. Besides that four beats per process and second while it has waiters.
  kPlacePerWaiter,

  // RedisPubSubLockStorage. One line per key in this process, FIFO; only its head has a place in
  // the server's line, so a thousand waiters here are one waiter there. A hold goes on inside the
  // process, each time with a new owner and a new fence; after kInARow of those while another
  // process waits, that one is first.
  //
  // While a hold is young, those who are next follow each other under it without the server: its
  // command has drawn their fences. Each has seven eighths of its lease at least.
  //
  // Lock and unlock uncontended are one command each; hand-offs inside the process need one for up
  // to kInARow, a change of processes two. Waiters of one key should ask for the same lease: a
  // place in line keeps the lease of the waiter it was taken for. The order across processes is
  // that of their heads.
  kPlacePerKey,
};

// Not thread-safe. References stay valid until their waiter, or the last one of the line, is
// removed.
class LineWaiters {
 public:
  enum class State {
    kHere,     // the server does not know it: another waiter has the process's place for the key,
               // or the process holds the key
    kAsking,   // an arrive or confirm is under way
    kOffered,  // the same, and the key was offered meanwhile
    kInLine,   // the server has its place, and nothing is under way
  };
  struct Waiting {
    LockKey key;
    Millis lease;
    bool queue = true;
    std::size_t together = 1;  // see LockRequest
    State state = State::kHere;
    bool stood = false;       // it has been kInLine
    std::string ticket = {};  // of its place; empty while it is kHere
    SteadyTime received{};    // it stands in a line since then, here or at the server; 0: not yet
  };
  struct Line {
    WaitingLine waiters;   // those that queue; not empty
    bool looking = false;  // a look is under way
  };

  // Ids are never used twice.
  WaiterId add(Waiting waiting);
  // `waiter` is known. Returns true when it was the last one in line for its key.
  bool remove(WaiterId waiter);
  void clear();

  Waiting* find(WaiterId waiter);    // nullptr: it is not known
  Line* lineOf(const LockKey& key);  // nullptr: it has no waiters
  std::map<LockKey, Line>& lines() { return lines_; }
  const std::unordered_map<WaiterId, Waiting>& all() const { return waiting_; }
  std::size_t inLine(const LockKey& key) const;

 private:
  WaiterId last_ = 0;
  std::unordered_map<WaiterId, Waiting> waiting_;
  std::map<LockKey, Line> lines_;
};

}  // namespace festa::lock
