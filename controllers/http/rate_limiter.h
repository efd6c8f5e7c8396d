// How often a name (an address, a caller) may send requests.
#pragma once

#include "services/time_source.h"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace festa {

// A bucket of tokens per name: `perMinute` at once, refilled at that rate. Bounded: when there are
// too many names, those whose buckets are full again are forgotten, which changes nothing for them;
// if all are in use, new names pass. Thread-safe.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  RateLimiter(std::int64_t perMinute, std::size_t capacity, const TimeSource& time = kSteadyTime);

  // Returns nothing when the name may go ahead, else how long it should wait: at least a second.
  std::optional<std::chrono::seconds> take(const std::string& name);

  std::size_t size() const;

 private:
  // Instead of tokens and their time, the moment at which the bucket is full again.
  using FullAt = Clock::time_point;

  void forgetFull(Clock::time_point now);

  const Clock::duration interval_;  // for one token
  const Clock::duration whole_;     // from empty to full
  const std::size_t capacity_;
  const TimeSource& time_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, FullAt> buckets_;  // guarded by mutex_
  Clock::time_point nextCleaning_{};                 // guarded by mutex_
};

}  // namespace festa
