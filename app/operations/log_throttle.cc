#include "app/operations/log_throttle.h"

#include <utility>

namespace festa {

std::optional<std::uint64_t> LogThrottle::mayWrite(const std::string& place, Time now) {
  const std::lock_guard guard(mutex_);
  auto& second = places_.try_emplace(place, Second{now}).first->second;
  if (now - second.began >= std::chrono::seconds(1)) second = {now, 0, second.dropped};
  if (second.written >= perSecond_) {
    ++second.dropped;
    return std::nullopt;
  }
  ++second.written;
  return std::exchange(second.dropped, 0);
}

}  // namespace festa
