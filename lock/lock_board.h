// What the locked requests of this process are doing at this moment.
#pragma once

#include "lock/lock_storage.h"

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace festa::lock {

// Thread-safe. Knows every request between its arrival at the lock and its release, and refuses
// none itself: isFull() is for the middleware to ask. Outlives its entries.
class LockBoard {
 public:
  explicit LockBoard(std::size_t holdersLimit) : holdersLimit_(holdersLimit) {}

  struct Row {
    std::string lockable;
    std::string strategy;
    LockKey key;
    bool holds = false;                      // or waits
    std::optional<std::int64_t> fence = {};  // of the grant; none: the strategy takes no lock
    SteadyTime since = SteadyClock::now();   // it waits or holds
    bool follows = false;                    // holds together with another, which counts for both
  };

  struct Counts {
    std::size_t waiting = 0;
    std::size_t holding = 0;
  };
  using Kind = std::pair<std::string, std::string>;  // lockable, strategy

  // One request: waits from here on, is gone when this goes.
  class Entry {
   public:
    Entry(LockBoard& board, std::string lockable, std::string strategy, LockKey key);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    // Once: it holds its key now, or runs without one by strategy. `follows`: together with another
    // that writes for it.
    void holds(std::optional<std::int64_t> fence, bool follows = false);

   private:
    LockBoard& board_;
    std::list<Row> row_;  // while it is not on the board; empty then
    std::list<Row>::iterator at_;
    Counts* counts_ = nullptr;
  };

  // Of those that hold a key together one counts: they write once.
  bool isFull() const;

  // Of every kind that has ever been seen.
  std::map<Kind, Counts> counts() const;

  // At most so many: holders first, then waiters, each in the order in which they became so.
  std::vector<Row> rows(std::size_t most) const;

 private:
  const std::size_t holdersLimit_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::list<Row> waiting_;
  std::list<Row> holding_;
  std::size_t followers_ = 0;      // of holding_
  std::map<Kind, Counts> counts_;  // never shrinks: entries point into it
};

}  // namespace festa::lock
