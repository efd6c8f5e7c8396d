// Requests of one process that hold a key together.
#pragma once

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace festa::lock {

class LockHold;

// Where the members of a shared hold meet, so that one of them does the work of all in the order of
// their arrival. Each member has an ordinal, 0 for the first in line, and either gathers or leaves,
// once. Thread-safe; shared by the leases of its members, which end in any order.
class Company {
 public:
  Company(std::string id, std::size_t members) : id_(std::move(id)), members_(members) {}
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  const std::string& id() const { return id_; }  // the same as that of no other hold
  std::size_t size() const { return members_.size(); }

  // Suspends until all members have come or left. Then returns the work of all, in the order of the
  // ordinals, to one of those that came, the leader: the last one to come, which goes on at once.
  // It calls dismiss() when it has done the work of all, and at the latest leave() does that. The
  // others get an empty list, then. Each resumes on its own loop, where it is awaited. `work` lives
  // in the frame of the coroutine that awaits this; only the members know its type, which is the
  // same for all of them (see LockHold::gather). `hold` is the member's, for finishOthers(); it may
  // be null.
  drogon::Task<std::vector<void*>> gather(std::size_t ordinal, void* work, LockHold* hold);
  // The leader calls it before dismiss(), to finish the holds of the others: LockHold::finish().
  void finishOthers(std::size_t leader);
  // The others go on, behind what their loops have to do by the end of this turn: if the leader
  // gives the key back now, the next holders begin first.
  void dismiss();
  // The member's work is over: it will not come, or has come.
  void leave(std::size_t ordinal);

 private:
  enum class State { kExpected, kGathered, kLeft };
  struct Member {
    State state = State::kExpected;
    void* work = nullptr;
    LockHold* hold = nullptr;
    trantor::EventLoop* loop = nullptr;
    std::coroutine_handle<> handle = {};  // while it waits
  };

  class Meeting;

  std::vector<void*> worksFor(std::size_t ordinal) const;
  // Callers hold mutex_.
  bool isComplete() const;  // all have come or left
  void resumeAll();         // those that wait

  const std::string id_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::vector<Member> members_;  // by ordinal
  std::optional<std::size_t> leader_;
};

}  // namespace festa::lock
