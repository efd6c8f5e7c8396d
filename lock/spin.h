// Waiting for a lock by asking again and again.
#pragma once

#include "lock/lock_storage.h"

#include <atomic>
#include <functional>

namespace festa::lock {

struct SpinSettings {
  Millis firstPause{4};
  Millis longestPause{64};
  std::size_t maxWaiters = 10'000;  // in this process
};

// The waiting of the storages that promise no order: a jittered, growing pause between attempts.
// Thread-safe; must outlive the tasks it has given out.
class Spin {
 public:
  // One attempt; nullopt: busy. What it throws ends the waiting.
  using Attempt = std::function<drogon::Task<std::optional<Lease>>()>;

  explicit Spin(SpinSettings settings) : settings_(settings) {}

  // At least one attempt, more until `wait` is over. Throws LockQueueFull, LockClosed.
  drogon::Task<std::optional<Lease>> run(Millis wait, Attempt attempt);

  // Waiters learn it when their pause ends.
  void close() { closed_ = true; }

 private:
  drogon::Task<std::optional<Lease>> askUntil(SteadyTime deadline, Attempt attempt) const;

  const SpinSettings settings_;
  std::atomic<std::size_t> waiters_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace festa::lock
