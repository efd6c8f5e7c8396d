// What a write knows of the request that makes it: the lock around it, its protection inside the
// database, and who watches it. Services know nothing else of locks.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

using SteadyTime = std::chrono::steady_clock::time_point;

// The moment after which a write must not be sent any more.
class Deadline {
 public:
  virtual ~Deadline() = default;

  // As far as is known now: later after a renewal, in the past once a lock is lost.
  virtual SteadyTime validUntil() const = 0;
};

// The lock around a write: one request's hold of its key. Outlives the write that it guards; used
// on that write's loop.
class LockHandle : public Deadline {
 public:
  // A token above the given one under the same hold; nullopt: the hold is lost. Throws when the
  // lock's storage does not answer.
  virtual drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above) = 0;
  // COMMIT's outcome is unknown: the key must not be given to a successor before the lease ends.
  virtual void leaveToExpire() = 0;

  // Whether the key is held together with others.
  virtual bool isShared() const { return false; }
  // Waits for all that hold the key together. One of them gets the work of all, in the order of
  // arrival; it writes for all and then calls dismiss(). The others get an empty list after that. A
  // holder that is alone gets its own work. Called once at most, by all with the same type; `mine`
  // lives in the frame that awaits this.
  template <class Work>
  drogon::Task<std::vector<Work*>> gather(Work& mine) {
    const auto all = co_await gatherUntyped(&mine);
    std::vector<Work*> works;
    for (void* const work : all) works.push_back(static_cast<Work*>(work));
    co_return works;
  }
  // Before dismiss(), by the one that got the work of all: the writes of all are acknowledged or
  // refused, and none of them needs the key any more. Gives it back for the others, so that the
  // next holders need not wait until each of them has been answered; the caller's own hold ends as
  // ever.
  virtual void finishOthers() {}
  virtual void dismiss() {}

 private:
  virtual drogon::Task<std::vector<void*>> gatherUntyped(void* work) {
    co_return std::vector<void*>{work};
  }
};

// What became of a COMMIT whose acknowledgement was lost.
enum class Resolution { kCommitted, kNotCommitted, kUnresolved };

// Hears the events of one request's writes, and has the test point before their COMMIT; outlives
// them. Called on the write's loop. Must not block; only beforeCommit() may throw.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // A transaction waited this long for its connection, whether it got one or not.
  virtual void poolWaited(std::chrono::steady_clock::duration wait) = 0;
  // A test point. It is awaited when the effects are complete and COMMIT is next, or the one
  // statement that commits by itself; an exception calls the write off. Only an observer that says
  // that it has one is asked: production's have none, and their writes need no coroutine for it.
  virtual bool hasTestPoint() const { return false; }
  virtual drogon::Task<> beforeCommit() { co_return; }
  virtual void fenceRefused() = 0;      // the row carries a larger token than ours
  virtual void fenceRenewed() = 0;      // the lock gave a larger one: the write goes on
  virtual void conflictRepeated() = 0;  // a transaction is run again after a conflict
  // An acknowledgement was lost, and resolveCommit has ended with this result.
  virtual void commitUnknown(Resolution found) = 0;
};

// nullptr: there is no observer, or it has no test point.
inline WriteObserver* testPointOf(WriteObserver* observer) {
  return observer != nullptr && observer->hasTestPoint() ? observer : nullptr;
}

// Protection inside the transaction: the rows of the strategy table that take no lock before it.
enum class Guard {
  kNone,            // nothing inside: a lock around the transaction, or no protection at all
  kConstraint,      // constraints and atomic statements
  kRepeatableRead,  // an isolation level that does not help; a negative control
  kSerializable,    // SERIALIZABLE, repeated on conflict
  kRowLock,         // pessimistic: a row lock on the parent
  kVersion,         // optimistic: the parent's version is compared at the end, repeated on conflict
  kAdvisory,        // the named lock: an advisory lock on the key
};

// Lives in the frame of the coroutine that serves the request, for one write. Everybody refers to
// that one: a fence that is renewed on the way down is the fence of the write from there on.
struct WriteGuard {
  WriteGuard() = default;
  WriteGuard(WriteGuard&&) = default;
  WriteGuard& operator=(WriteGuard&&) = delete;

  SteadyTime validUntil() const { return hold != nullptr ? hold->validUntil() : SteadyTime::max(); }

  Guard inside = Guard::kNone;
  // The lock's token; none without a lock.
  std::optional<std::int64_t> fence = {};
  std::string key = {};                      // of the lock, for kAdvisory
  std::chrono::milliseconds lockWait{5000};  // for guards that wait inside the database
  LockHandle* hold = nullptr;                // nullptr: no lock was taken
  WriteObserver* observer = nullptr;         // may be null
};

}  // namespace festa
