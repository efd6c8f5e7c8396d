// The waiters of one process for one key, in order of arrival, and which of them may hold it
// together.
#pragma once

#include "lock/lock_storage.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>

namespace festa::lock {

using WaiterId = std::uint64_t;

// How many waiters a storage has at most.
struct LockTableLimits {
  std::size_t waitersPerKey = 10'000;
  std::size_t waitersInAll = 50'000;

  // `inLine`: those that wait for the key of the next one; `inAll`: for any key.
  bool areReached(std::size_t inLine, std::size_t inAll) const {
    return inLine >= waitersPerKey || inAll >= waitersInAll;
  }
};

// First in, first out. Every step but cancel() takes constant time, and cancel() logarithmic time,
// both on average over many. Decisions only: no clock, no I/O. Not thread-safe.
class WaitingLine {
 public:
  struct Place {
    WaiterId waiter = 0;
    Millis lease{0};
    std::size_t together = 1;  // see LockRequest
  };

  // At the end. The ids of one line grow from waiter to waiter.
  void push(Place place) { slots_.push_back({place}); }
  // The first one. The line is not empty, here and in pop().
  const Place& head() const { return slots_.front().place; }
  void pop();
  // False: the waiter is not in the line.
  bool cancel(WaiterId waiter);
  void clear();

  std::size_t size() const { return slots_.size() - cancelled_; }
  bool empty() const { return slots_.empty(); }

 private:
  struct Slot {
    Place place;
    bool isCancelled = false;
  };
  using Slots = std::deque<Slot>;

 public:
  // Over the places in their order. A change of the line ends it.
  class Iterator {
   public:
    Iterator(Slots::const_iterator at, Slots::const_iterator end) : at_(at), end_(end) {}
    const Place& operator*() const { return at_->place; }
    Iterator& operator++() {
      do ++at_;
      while (at_ != end_ && at_->isCancelled);
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    Slots::const_iterator at_;
    Slots::const_iterator end_;
  };
  Iterator begin() const { return {slots_.begin(), slots_.end()}; }
  Iterator end() const { return {slots_.end(), slots_.end()}; }

 private:
  void dropCancelledAtTheHead();

  // By id. The first slot is not cancelled; of the others at most half are.
  Slots slots_;
  std::size_t cancelled_ = 0;
};

// Counts the waiters that are to hold a key together: neighbours in line with the lease of the
// hold, as many as each of them allows.
class Companions {
 public:
  // `most`: what the `count` waiters allow that have the key already.
  Companions(Millis lease, std::size_t most, std::size_t count)
      : lease_(lease), most_(most), count_(count) {}

  // Whether the next one in line holds the key with the others. False ends the company.
  bool joins(Millis lease, std::size_t together) {
    most_ = std::min(most_, together);
    if (lease != lease_ || count_ >= most_) return false;
    ++count_;
    return true;
  }

 private:
  const Millis lease_;
  std::size_t most_;
  std::size_t count_;
};

// `grants`, each with a `lease`, were made at once: two and more become members of one Company.
template <class Grants>
void makeCompany(Grants& grants) {
  if (grants.size() < 2) return;
  const auto company = std::make_shared<Company>(grants[0].lease.owner, grants.size());
  for (std::size_t i = 0; i < grants.size(); ++i) {
    grants[i].lease.company = company;
    grants[i].lease.ordinal = i;
  }
}

}  // namespace festa::lock
