// Events of guarded writes, for metrics and the lab.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>

namespace festa {

enum class Resolution { kCommitted, kNotCommitted, kUnresolved };

// Of one request's writes; outlives them. Called on the write's loop. Must not block; only
// committing() may throw.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // A transaction waited this long for its connection, whether it got one or not.
  virtual void poolWaited(std::chrono::steady_clock::duration wait) = 0;
  // The effects are complete and COMMIT is next, or the one statement that commits by itself.
  // Awaited; an exception calls the write off.
  virtual drogon::Task<> committing() { co_return; }
  virtual void fenceRefused() = 0;      // the row carries a larger token than ours
  virtual void fenceRenewed() = 0;      // the lock gave a larger one: the write goes on
  virtual void conflictRepeated() = 0;  // a transaction is run again after a conflict
  // An acknowledgement was lost, and resolveCommit has ended with this result.
  virtual void commitUnknown(Resolution found) = 0;
};

}  // namespace festa
