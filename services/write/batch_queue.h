// Which writes share a transaction: decisions only, no I/O.
#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <vector>

namespace festa {

struct BatchLimits {
  std::size_t members = 64;  // of one batch; 1: writes do not share
  std::size_t underWay = 2;  // batches at the same time: each has a connection
};

// A write never waits beside a free connection: a batch leaves whenever fewer batches are under way
// than there are connections. Writes that arrive while all are busy leave together as soon as one
// comes free. `Member::row()` returns a reference to what names the row it writes: two members of
// one row never share a batch. Members belong to the caller and stay alive until their batch is
// finished. Not thread-safe.
template <class Member>
class BatchQueue {
 public:
  explicit BatchQueue(BatchLimits limits) : limits_(limits) {}

  void arrive(Member& member) { waiting_.push_back(&member); }

  // The members of the next batch in the order of their arrival, or none when no more may leave
  // now. A batch that is not empty ends with finished().
  std::vector<Member*> leave() {
    std::vector<Member*> batch;
    if (underWay_ >= limits_.underWay) return batch;
    const auto isBefore = [](const Member* a, const Member* b) { return a->row() < b->row(); };
    std::set<const Member*, decltype(isBefore)> rows(isBefore);
    std::deque<Member*> stay;
    while (!waiting_.empty() && batch.size() < limits_.members) {
      auto* const member = waiting_.front();
      waiting_.pop_front();
      const bool isFirstOfRow = rows.insert(member).second;
      if (isFirstOfRow)
        batch.push_back(member);
      else
        stay.push_back(member);
    }
    waiting_.insert(waiting_.begin(), stay.begin(), stay.end());
    if (!batch.empty()) ++underWay_;
    return batch;
  }

  void finished() { --underWay_; }

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t underWay() const { return underWay_; }

 private:
  const BatchLimits limits_;
  std::deque<Member*> waiting_;
  std::size_t underWay_ = 0;
};

}  // namespace festa
