// The waiters of one process, and the lines in which they stand.
#pragma once

#include "lock/memory/waiting_line.h"

#include <map>
#include <unordered_map>

namespace festa::lock {

// Who of a process has a place in the server's line.
enum class LinePolicy {
  kPlacePerWaiter,  // strict order across processes
  kPlacePerKey,     // one waiter for all of the process; the others wait here, in order of arrival
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
