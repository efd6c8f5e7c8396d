// What one watcher of a hall is told after a look at the hall. Pure.
#pragma once

#include <chrono>
#include <optional>

namespace festa {

// Every watcher begins with a snapshot. One that reads too slowly is told nothing until it has
// caught up, and then gets a snapshot: its changes are not kept. Not thread-safe.
class WatcherPace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Say { kNothing, kSnapshot, kChanges, kComment, kEnd };

  static constexpr std::chrono::seconds kSilence{15};        // then a comment is sent
  static constexpr std::chrono::seconds kLongestBehind{60};  // then the stream is ended

  explicit WatcherPace(Time now) : lastSaid_(now) {}

  // What to send now. The caller sends it, or ends the stream for kEnd.
  Say next(Time now, bool isBehind, bool hasChanges) {
    if (isBehind) return fallBehind(now);
    behindSince_.reset();
    if (!needsSnapshot_ && !hasChanges && now - lastSaid_ < kSilence) return Say::kNothing;
    lastSaid_ = now;
    if (needsSnapshot_) {
      needsSnapshot_ = false;
      return Say::kSnapshot;
    }
    return hasChanges ? Say::kChanges : Say::kComment;
  }

 private:
  Say fallBehind(Time now) {
    needsSnapshot_ = true;
    if (!behindSince_) behindSince_ = now;
    return now - *behindSince_ < kLongestBehind ? Say::kNothing : Say::kEnd;
  }

  Time lastSaid_;
  bool needsSnapshot_ = true;
  std::optional<Time> behindSince_;
};

}  // namespace festa
