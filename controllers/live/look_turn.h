// One look of a feed into the database at a time, and none when the database's clients end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace festa {

// Thread-safe.
class LookTurn {
 public:
  // False: a look is under way, or there shall be no more. True: end() follows.
  bool begin() {
    const std::lock_guard guard(mutex_);
    if (isLooking_ || isStopped_) return false;
    isLooking_ = true;
    return true;
  }

  void end() {
    const std::lock_guard guard(mutex_);
    isLooking_ = false;
    ended_.notify_all();
  }

  bool isStopped() const {
    const std::lock_guard guard(mutex_);
    return isStopped_;
  }

  // There will be no more looks; waits for the one under way, at most for the limit. Not on the
  // loop that looks.
  void stop(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    isStopped_ = true;
    ended_.wait_for(lock, limit, [this] { return !isLooking_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool isLooking_ = false;  // guarded by mutex_
  bool isStopped_ = false;  // guarded by mutex_
};

}  // namespace festa
