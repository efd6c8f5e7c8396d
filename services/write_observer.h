// What guarded writes tell the outside, for metrics.
#pragma once

#include <chrono>

namespace festa {

enum class Resolution { kCommitted, kNotCommitted, kUnresolved };

// Of one request's writes: who made it knows whose they are. Called on event loops' threads. Must
// not throw or block.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  // A transaction waited this long for its connection, whether it got one or not.
  virtual void poolWaited(std::chrono::steady_clock::duration wait) = 0;
  virtual void fenceRefused() = 0;      // the row carries a larger token than ours
  virtual void fenceRenewed() = 0;      // the lock gave a larger one: the write goes on
  virtual void conflictRepeated() = 0;  // a transaction is run again after a conflict
  virtual void commitUnknown(
      Resolution found) = 0;  // an acknowledgement was lost; what became of it
};

}  // namespace festa
