#include "controllers/http/rate_limiter.h"

#include <algorithm>

namespace festa {

RateLimiter::RateLimiter(std::int64_t perMinute, std::size_t capacity, const TimeSource& time)
    : interval_(std::chrono::duration_cast<Clock::duration>(std::chrono::minutes(1)) / perMinute),
      whole_(interval_ * perMinute),
      capacity_(capacity),
      time_(time) {}

std::optional<std::chrono::seconds> RateLimiter::take(const std::string& name) {
  const auto now = time_.now();
  const std::lock_guard guard(mutex_);
  auto bucket = buckets_.find(name);
  if (bucket == buckets_.end()) {
    if (buckets_.size() >= capacity_) forgetFull(now);
    if (buckets_.size() >= capacity_) return std::nullopt;
    bucket = buckets_.emplace(name, now).first;
  }
  const auto fullAt = std::max(bucket->second, now) + interval_;
  if (fullAt - now <= whole_) {
    bucket->second = fullAt;
    return std::nullopt;
  }
  const auto wait = std::chrono::ceil<std::chrono::seconds>(fullAt - now - whole_);
  return std::max(wait, std::chrono::seconds(1));
}

// Not more often than once in a tenth of the time in which a bucket fills: it looks at all of them.
void RateLimiter::forgetFull(Clock::time_point now) {
  if (now < nextCleaning_) return;
  nextCleaning_ = now + whole_ / 10;
  std::erase_if(buckets_, [now](const auto& bucket) { return bucket.second <= now; });
}

std::size_t RateLimiter::size() const {
  const std::lock_guard guard(mutex_);
  return buckets_.size();
}

}  // namespace festa
