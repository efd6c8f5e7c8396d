// Waits and holds of the last minutes.
#pragma once

#include "lock/lock_observer.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace festa {

// Counts durations by buckets and forgets those that are older than kSpan, in steps of kStep.
// Thread-safe; its size never changes.
class RecentHistogram {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::chrono::minutes kSpan{5};
  // Upper ends of the buckets; what is above goes into one more.
  static constexpr std::array<std::int64_t, 13> kBoundsMicros{
      500,     1'000,   2'500,   5'000,     10'000,    25'000,   50'000,
      100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000};
  using Counts = std::array<std::uint64_t, kBoundsMicros.size() + 1>;

  // `now` never goes back by more than kSpan.
  void add(Duration value, Time now);
  Counts counts(Time now) const;

 private:
  static constexpr std::size_t kSteps = kSpan / kStep;

  struct Step {
    std::int64_t number = -1;  // the time that it counts; it is old if that is over
    Counts counts{};
  };

  mutable std::mutex mutex_;
  std::array<Step, kSteps> steps_;  // guarded by mutex_
};

// Decorates the observer of all locks. Thread-safe.
class RecentLocks : public lock::LockObserver {
 public:
  // `inner` outlives this.
  explicit RecentLocks(lock::LockObserver& inner) : inner_(inner) {}

  const RecentHistogram& waits() const { return waits_; }  // includes those of refused requests
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
