#include "app/operations/metric_sums.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

constexpr std::string_view kText =
    "# HELP festa_fence_refused_total Writes.\n"
    "# TYPE festa_fence_refused_total counter\n"
    "festa_fence_refused_total{lockable=\"seats\",strategy=\"memory\"} 2\n"
    "festa_fence_refused_total{lockable=\"coupons\",strategy=\"memory\"} 3\n"
    "festa_loop_lag_seconds 0.0125\n"
    "festa_lock_wait_seconds_bucket{lockable=\"seats\",le=\"+Inf\"} 9\n"
    "festa_lock_wait_seconds_count{lockable=\"seats\"} 9\n"
    "festa_queue_waiting{queue=\"queue-local\"} 7\n";

}  // namespace

TEST(MetricSums, ASeriesIsSummedOverItsLabels) {
  const auto sums = metricSums(kText);
  EXPECT_EQ(valueOf(sums, "festa_fence_refused_total"), 5);
  EXPECT_DOUBLE_EQ(valueOf(sums, "festa_loop_lag_seconds"), 0.0125);
  EXPECT_EQ(valueOf(sums, "festa_lock_wait_seconds_count"), 9);
  EXPECT_EQ(valueOf(sums, "festa_unknown"), 0);
  EXPECT_FALSE(sums.contains("festa_lock_wait_seconds_bucket"));
}

TEST(MetricSums, AFamilyIsReadByOneLabel) {
  const auto waiting = metricBy(kText, "festa_queue_waiting", "queue");
  EXPECT_EQ(waiting, (std::map<std::string, double>{{"queue-local", 7}}));
  const auto refused = metricBy(kText, "festa_fence_refused_total", "strategy");
  EXPECT_EQ(refused, (std::map<std::string, double>{{"memory", 5}}));
}

TEST(MetricSums, AnEmptyTextHasNoSeries) {
  EXPECT_TRUE(metricSums("").empty());
  EXPECT_TRUE(metricSums("# only\n\nwords").empty());
}

}  // namespace festa::test
