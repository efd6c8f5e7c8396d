#include "app/operations/recent_locks.h"

#include <gtest/gtest.h>

#include <numeric>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using Time = RecentHistogram::Time;

const Time kNow{std::chrono::hours(1000)};

std::uint64_t total(const RecentHistogram::Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

TEST(RecentHistogram, AValueOnABoundaryBelongsBelowIt) {
  RecentHistogram histogram;
  histogram.add(500us, kNow);
  histogram.add(501us, kNow);
  histogram.add(1h, kNow);
  histogram.add(0us, kNow);
  const auto counts = histogram.counts(kNow);
  EXPECT_EQ(counts.front(), 2U);
  EXPECT_EQ(counts[1], 1U);
  EXPECT_EQ(counts.back(), 1U);
}

TEST(RecentHistogram, WhatIsOlderThanTheSpanIsForgotten) {
  RecentHistogram histogram;
  histogram.add(1ms, kNow);
  EXPECT_EQ(total(histogram.counts(kNow + RecentHistogram::kSpan - RecentHistogram::kStep)), 1U);
  EXPECT_EQ(total(histogram.counts(kNow + RecentHistogram::kSpan)), 0U);
  histogram.add(1ms, kNow + RecentHistogram::kSpan);
  EXPECT_EQ(total(histogram.counts(kNow + RecentHistogram::kSpan)), 1U)
      << "the old value's place was used again";
}

TEST(RecentHistogram, ValuesOfDifferentStepsAddUp) {
  RecentHistogram histogram;
  for (int i = 0; i < 25; ++i) histogram.add(3ms, kNow + i * RecentHistogram::kStep);
  EXPECT_EQ(total(histogram.counts(kNow + 25 * RecentHistogram::kStep)), 25U);
}

}  // namespace festa::test
