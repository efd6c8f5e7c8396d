// The waiters of one process, and the lines in which they stand.
#pragma once

#include "lock/lock_table.h"

#include <map>
#include <set>
#include <unordered_map>

namespace festa::lock {

// Not thread-safe. References stay valid until their waiter, or the last one of the line, is
// removed.
class LineWaiters {
 public:
  enum class State {
    kAsking,   // an arrive or confirm is under way
    kOffered,  // the same, and the key was offered meanwhile
    kInLine,   // the server has its place, and nothing is under way
  };
  struct Waiting {
    LockKey key;
    Millis lease;
    bool queue = true;
    State state = State::kAsking;
    bool stood = false;  // it has been kInLine
  };
  struct Line {
    std::set<WaiterId> waiters;  // those that queue, in order of arrival; not empty
    bool looking = false;        // a look is under way
  };

  // Ids are never used twice.
  WaiterId add(const LockKey& key, Millis lease, bool queue);
  // `waiter` is known. Returns true when it was the last one in line for its key.
  bool remove(WaiterId waiter);
  void clear();

  Waiting* find(WaiterId waiter);    // nullptr: it is not known
  Line* lineOf(const LockKey& key);  // nullptr: nobody queues
  std::map<LockKey, Line>& lines() { return lines_; }
  const std::unordered_map<WaiterId, Waiting>& all() const { return waiting_; }
  std::size_t inLine(const LockKey& key) const;

 private:
  WaiterId last_ = 0;
  std::unordered_map<WaiterId, Waiting> waiting_;
  std::map<LockKey, Line> lines_;
};

}  // namespace festa::lock
