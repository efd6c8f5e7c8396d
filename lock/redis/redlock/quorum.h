// The arithmetic of a lock on several independent nodes: no clock, no I/O.
#pragma once

#include "lock/lock_storage.h"

#include <cstddef>
#include <stdexcept>

namespace festa::lock {

// One vote of N nodes. Each node votes at most once. Not thread-safe.
class Quorum {
 public:
  enum class Verdict {
    kOpen,
    kGranted,  // a majority has granted
    kNot,      // no majority can grant any more
  };

  // Throws std::invalid_argument for fewer than three or an even number: two majorities must share
  // a node, and one node more must buy something.
  explicit Quorum(std::size_t nodes) : nodes_(nodes) {
    if (nodes < 3 || nodes % 2 == 0)
      throw std::invalid_argument("a quorum needs an odd number of nodes, at least three");
  }

  void grant() { ++granted_; }
  void refuse() { ++refused_; }
  void fail() { ++failed_; }  // no answer, or one without a vote
  // A node that has not voted by now has failed.
  void closeVote() { failed_ += open(); }

  Verdict verdict() const {
    if (granted_ >= majority()) return Verdict::kGranted;
    return granted_ + open() < majority() ? Verdict::kNot : Verdict::kOpen;
  }
  bool isRefused() const { return refused_ >= majority(); }
  bool isUnavailable() const { return failed_ >= majority(); }
  // A majority is of one mind, whatever it is, or no node is left to ask.
  bool isClear() const {
    return verdict() == Verdict::kGranted || isRefused() || isUnavailable() || open() == 0;
  }

  std::size_t majority() const { return nodes_ / 2 + 1; }
  std::size_t open() const { return nodes_ - granted_ - refused_ - failed_; }

 private:
  const std::size_t nodes_;
  std::size_t granted_ = 0;
  std::size_t refused_ = 0;
  std::size_t failed_ = 0;
};

// How long a lease that was asked for may be trusted. Counts from before the first request was
// sent, so that the slowest node's expiry is later than ours.
class Validity {
 public:
  Validity(SteadyTime sent, Millis lease) : until_(sent + lease - driftMargin(lease)) {}

  SteadyTime until() const { return until_; }
  SteadyClock::duration left(SteadyTime now) const { return until_ - now; }
  bool isOver(SteadyTime now) const { return left(now) <= SteadyClock::duration::zero(); }

 private:
  SteadyTime until_;
};

}  // namespace festa::lock
