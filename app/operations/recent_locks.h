// Waits and holds of the last minutes.
#pragma once

#include "app/operations/recent_histogram.h"
#include "lock/lock_observer.h"

namespace festa {

// Decorates the observer of all locks. Thread-safe.
class RecentLocks : public lock::LockObserver {
 public:
  // `inner` outlives this.
  explicit RecentLocks(lock::LockObserver& inner) : inner_(inner) {}

  const RecentHistogram& waits() const { return waits_; }  // of refused requests, too
  const RecentHistogram& holds() const { return holds_; }

  void finished(const drogon::HttpRequestPtr& request, const lock::LockRecord& record) override {
    const auto now = lock::SteadyClock::now();
    waits_.add(record.wait, now);
    if (record.hold.count() > 0) holds_.add(record.hold, now);
    inner_.finished(request, record);
  }
  void renewed(const std::string& lockable, const std::string& strategy,
               lock::RenewalOutcome outcome) override {
    inner_.renewed(lockable, strategy, outcome);
  }

 private:
  lock::LockObserver& inner_;
  RecentHistogram waits_;
  RecentHistogram holds_;
};

}  // namespace festa
