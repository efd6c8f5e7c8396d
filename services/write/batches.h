// Writes of one event loop that share a transaction: which of them do (BatchQueue, decisions only),
// and how they wait for it (Batches).
#pragma once

#include "services/write/shared_transaction.h"

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
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

// What a batch is made of; lives in the frame of the coroutine that joins.
struct BatchMember {
  std::coroutine_handle<> joined = {};
};

// Brings writes together, each loop its own; BatchQueue decides which. No timer: what arrives in
// one turn of the loop leaves at its end, unless each connection has a batch. `Member` is a
// BatchMember and has a row(), see BatchQueue. Thread-safe; outlives the loops.
template <class Member>
class Batches {
 public:
  explicit Batches(BatchLimits limits) : limits_(limits) {}
  virtual ~Batches() = default;
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  bool areShared() const { return limits_.members > 1; }
  const SharedCounts& counts() const { return counts_; }

  // Suspends until write() has told the member its outcome. Resumes on the same loop.
  drogon::Task<> join(Member& member) {
    Departure departure(*this, lineHere(), member);
    co_await departure;
  }

 protected:
  // Writes all members and tells each of them its own outcome, on the loop of the batch. Must not
  // throw.
  virtual drogon::Task<> write(std::vector<Member*> batch) = 0;

 private:
  struct Line {
    Line(trantor::EventLoop* on, BatchLimits limits) : loop(on), queue(limits) {}

    trantor::EventLoop* const loop;
    BatchQueue<Member> queue;
    bool departs = false;  // at the end of this turn
  };

  class Departure {
   public:
    Departure(Batches& batches, Line& line, Member& member)
        : batches_(batches), line_(line), member_(member) {}
    Departure(const Departure&) = delete;
    Departure& operator=(const Departure&) = delete;

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
      member_.joined = handle;
      line_.queue.arrive(member_);
      if (std::exchange(line_.departs, true)) return;
      line_.loop->queueInLoop([&batches = batches_, &line = line_] {
        line.departs = false;
        batches.depart(line);
      });
    }
    void await_resume() const noexcept {}

   private:
    Batches& batches_;
    Line& line_;
    Member& member_;
  };

  Line& lineHere() {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    const std::lock_guard guard(mutex_);
    auto& line = lines_[loop];
    if (!line) line = std::make_unique<Line>(loop, limits_);
    return *line;
  }

  void depart(Line& line) {
    for (auto batch = line.queue.leave(); !batch.empty(); batch = line.queue.leave())
      carry(line, std::move(batch));
  }

  drogon::AsyncTask carry(Line& line, std::vector<Member*> batch) {
    counts_.add(batch.size());
    co_await write(batch);
    // A database client that is not of this loop resumes elsewhere.
    if (!line.loop->isInLoopThread()) co_await drogon::switchThreadCoro(line.loop);
    line.queue.finished();
    // The next batch first: the database works while these members are answered.
    depart(line);
    for (auto* const member : batch) member->joined.resume();
  }

  const BatchLimits limits_;
  SharedCounts counts_;
  std::mutex mutex_;
  std::unordered_map<trantor::EventLoop*, std::unique_ptr<Line>> lines_;  // guarded by mutex_
};

}  // namespace festa
