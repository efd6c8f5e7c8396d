#include "app/operations/recent_locks.h"

#include <algorithm>

namespace festa {

namespace {

std::int64_t stepOf(RecentHistogram::Time now) {
  return now.time_since_epoch() / RecentHistogram::kStep;
}

std::size_t bucketOf(RecentHistogram::Duration value) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(value).count();
  const auto& bounds = RecentHistogram::kBoundsMicros;
  return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), micros) -
                                  bounds.begin());
}

}  // namespace

void RecentHistogram::add(Duration value, Time now) {
  const auto number = stepOf(now);
  const auto bucket = bucketOf(value);
  const std::lock_guard guard(mutex_);
  auto& step = steps_[static_cast<std::size_t>(number) % kSteps];
  if (step.number != number) step = {number, {}};
  ++step.counts[bucket];
}

RecentHistogram::Counts RecentHistogram::counts(Time now) const {
  const auto oldest = stepOf(now) - static_cast<std::int64_t>(kSteps) + 1;
  Counts sum{};
  const std::lock_guard guard(mutex_);
  for (const auto& step : steps_)
    if (step.number >= oldest)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += step.counts[i];
  return sum;
}

}  // namespace festa
