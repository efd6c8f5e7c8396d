// What guarded writes tell the outside, for metrics.
#pragma once

namespace festa {

enum class Resolution { kCommitted, kNotCommitted, kUnresolved };

// Called on event loops' threads. Must not throw or block.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  virtual void conflictRepeated() = 0;  // a transaction is run again after a conflict
  virtual void commitUnknown(
      Resolution found) = 0;  // an acknowledgement was lost; what became of it
};

}  // namespace festa
