// Events of guarded writes, and the test point before their COMMIT.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>

namespace festa {

enum class Resolution { kCommitted, kNotCommitted, kUnresolved };

// Observes one request's writes and outlives them. Called on the write's loop. Must not block; only
// beforeCommit() may throw.
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

}  // namespace festa
