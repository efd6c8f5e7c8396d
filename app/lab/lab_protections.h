// What requests of the lab may wish: another strategy, no backstop, a fault before COMMIT.
#pragma once

#include "app/lab/lab_pauses.h"
#include "app/lab/lab_timekeeper.h"
#include "app/lab/lab_writes.h"
#include "app/strategies/strategies.h"
#include "controllers/http/protection.h"

#include <chrono>
#include <optional>

namespace festa {

inline constexpr std::chrono::milliseconds kLongestLabPause{60'000};

struct LabFault {
  enum class Kind {
    kRelease,      // the lock is given back, then COMMIT follows
    kThrow,        // a std::exception
    kThrowNumber,  // what Drogon and the standard library do not expect
    kPause,        // for `time`
  };
  Kind kind;
  std::chrono::milliseconds time{0};
};

// Of an X-Lab-Fault header: `release-before-commit`, `throw-before-commit`,
// `throw-number-before-commit` or `pause-before-commit=<ms>`, up to kLongestLabPause; nullopt: it
// is empty. Throws ServiceError(kInvalidParameter).
std::optional<LabFault> labFaultOf(const std::string& text);

// Decorates the configured protections by the headers X-Concurrency, X-Backstop and X-Lab-Fault,
// and has the times of requests noted that ask for them.
// Only a lab start makes one. Thread-safe; what it is made of outlives it.
class LabProtections : public Protections {
 public:
  LabProtections(const Protections& configured, const Strategies& strategies, LabPauses& pauses,
                 const LabTimekeeper& times)
      : configured_(configured), strategies_(strategies), pauses_(pauses), times_(times) {}

  lock::Lockable configured(lock::Lockable lockable) const override {
    return configured_.configured(std::move(lockable));
  }
  // Without a backstop where a strategy is wished and nothing is said about it: that strategy
  // alone.
  Protection of(const drogon::HttpRequestPtr& request,
                const lock::Lockable& lockable) const override;
  std::unique_ptr<WriteObserver> observe(const drogon::HttpRequestPtr& request,
                                         lock::LockHold& hold) const override;

 private:
  const Protections& configured_;
  const Strategies& strategies_;
  LabPauses& pauses_;
  const LabTimekeeper& times_;
  const LabWrites writes_;
};

}  // namespace festa
