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

// Where the members of a shared hold meet, so that one of them does the work of all in the order of
// their arrival. Each member has an ordinal, 0 for the first in line, and either gathers or leaves,
// once. Thread-safe; shared by the leases of its members, which end in any order.
class Company {
 public:
  // What a member brings. Lives in the frame of the coroutine that awaits gather().
  class Part {
   public:
    virtual ~Part() = default;
  };

  Company(std::string id, std::size_t members) : id_(std::move(id)), members_(members) {}
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  const std::string& id() const { return id_; }  // the same as that of no other hold
  std::size_t size() const { return members_.size(); }

  // Suspends until all members have come or left. Then returns all parts, in the order of the
  // ordinals, to one of those that came, the leader: the last one to come, which goes on at once.
  // It calls dismiss() when it has done the work of all, and at the latest leave() does that. The
  // others get an empty list, then. Each resumes on its own loop, where it is awaited.
  drogon::Task<std::vector<Part*>> gather(std::size_t ordinal, Part& part);
  // The member's work is over: it will not come, or has come.
  void leave(std::size_t ordinal);
  // The others go on, behind what their loops have to do by the end of this turn: if the leader
  // gives the key back now, the next holders begin first.
  void dismiss();

 private:
  enum class State { kExpected, kGathered, kLeft };
  struct Member {
    State state = State::kExpected;
    Part* part = nullptr;
    trantor::EventLoop* loop = nullptr;
    std::coroutine_handle<> handle;
  };

  class Meeting;

  // Callers hold mutex_.
  bool isComplete() const;  // all have come or left
  void resumeAll();         // those that wait
  std::vector<Part*> partsFor(std::size_t ordinal) const;

  const std::string id_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::vector<Member> members_;  // by ordinal
  std::optional<std::size_t> leader_;
};

}  // namespace festa::lock
