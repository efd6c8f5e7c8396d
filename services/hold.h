// The lock around a write, as the services see it.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace festa {

using SteadyTime = std::chrono::steady_clock::time_point;

// One request's hold of its key. Outlives the write that it guards; used on that write's loop.
class Hold {
 public:
  virtual ~Hold() = default;

  // When the hold ends as far as is known now: later after a renewal, in the past once it is lost.
  virtual SteadyTime validUntil() const = 0;

  // A token above the given one under the same hold; nullopt: the hold is lost. Throws when the
  // lock's storage does not answer.
  virtual drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above) = 0;

  // COMMIT's outcome is unknown: the key must not be given to a successor before the lease ends.
  virtual void leaveToExpire() = 0;
};

}  // namespace festa
