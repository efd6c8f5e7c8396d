// The lock around a write, as the services see it.
#pragma once

#include <drogon/utils/coroutine.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

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

  // One holder's part of a write that all holders of a shared key do together. Lives in the frame
  // that awaits gather().
  class Part {
   public:
    virtual ~Part() = default;
  };
  // Whether the key is held together with others.
  virtual bool isShared() const { return false; }
  // Waits for all that hold the key together. One of them gets all parts, in the order of arrival;
  // it writes for all and then calls dismiss(). The others get an empty list after that. A holder
  // that is alone gets its own part. Called once at most.
  virtual drogon::Task<std::vector<Part*>> gather(Part& mine) {
    co_return std::vector<Part*>{&mine};
  }
  virtual void dismiss() {}
  // Before dismiss(), by the one that got the parts: the writes of all are acknowledged or refused,
  // and none of them needs the key any more. Gives it back for the others, so that the next holders
  // need not wait until each of them has been answered; the caller's own hold ends as ever.
  virtual void finishOthers() {}

  // COMMIT's outcome is unknown: the key must not be given to a successor before the lease ends.
  virtual void leaveToExpire() = 0;
};

}  // namespace festa
