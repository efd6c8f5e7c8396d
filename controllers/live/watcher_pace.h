// What one watcher of a hall is told after a look at the hall. Pure.
#pragma once

#include "controllers/live/reader_patience.h"

#include <chrono>

namespace festa {

// Every watcher begins with a snapshot. One that reads too slowly is told nothing until it has
// caught up, and then gets a snapshot: its changes are not kept. Not thread-safe.
class WatcherPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Say { kNothing, kSnapshot, kChanges, kComment, kEnd };

  static constexpr std::chrono::seconds kSilence{15};  // then a comment is sent

  explicit WatcherPace(Time now) : lastSaid_(now) {}

  // What to send now. The caller sends it, or ends the stream for kEnd.
  Say next(Time now, bool isBehind, bool hasChanges) {
    if (!patience_.lasts(now, isBehind)) return Say::kEnd;
    needsSnapshot_ = needsSnapshot_ || isBehind;
    if (isBehind) return Say::kNothing;
    if (!needsSnapshot_ && !hasChanges && now - lastSaid_ < kSilence) return Say::kNothing;
    lastSaid_ = now;
    if (needsSnapshot_) {
      needsSnapshot_ = false;
      return Say::kSnapshot;
    }
    return hasChanges ? Say::kChanges : Say::kComment;
  }

 private:
  Time lastSaid_;
  bool needsSnapshot_ = true;
  ReaderPatience patience_;
};

}  // namespace festa
