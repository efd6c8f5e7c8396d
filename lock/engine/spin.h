// Waiting for a lock by asking again and again.
#pragma once

#include "lock/engine/backoff.h"
#include "lock/lock_storage.h"

#include <atomic>

namespace festa::lock {

struct SpinSettings {
  Millis firstPause{4};
  Millis longestPause{64};
  std::size_t maxWaiters = 10'000;  // in this process
};

// The waiting of the storages that promise no order: a jittered, growing pause between attempts.
// Thread-safe; must outlive its waits.
class Spin {
 public:
  explicit Spin(SpinSettings settings) : settings_(settings) {}

  // The pauses of one request. Made before its first attempt; used on one event loop.
  class Wait {
   public:
    // Throws LockClosed.
    Wait(Spin& spin, Millis wait);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    // After an attempt that found the key busy. True: try again. False: the wait is over. Throws
    // LockQueueFull when too many wait already, and LockClosed.
    drogon::Task<bool> pause();

   private:
    Spin& spin_;
    const Millis wait_;
    const SteadyTime deadline_;
    Backoff backoff_;
    bool isCounted_ = false;  // in waiters_, from the first pause on
  };

  // Waiters learn it when their pause ends.
  void close() { closed_ = true; }

 private:
  const SpinSettings settings_;
  std::atomic<std::size_t> waiters_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace festa::lock
