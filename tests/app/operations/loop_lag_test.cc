#include "app/operations/loop_lag.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

const RecentWorst::Time kNow{std::chrono::hours(1000)};

}  // namespace

TEST(RecentWorst, EveryReaderSeesTheLargestValue) {
  RecentWorst lag;
  lag.add(3, kNow);
  lag.add(7, kNow + 1s);
  lag.add(5, kNow + 2s);
  EXPECT_EQ(lag.worst(kNow + 3s), 7);
  EXPECT_EQ(lag.worst(kNow + 3s), 7);
}

TEST(RecentWorst, AValueIsSeenForASpanAndForgottenAfterTwo) {
  RecentWorst lag;
  lag.add(7, kNow);
  lag.add(1, kNow + RecentWorst::kSpan);
  EXPECT_EQ(lag.worst(kNow + RecentWorst::kSpan), 7);
  EXPECT_EQ(lag.worst(kNow + 2 * RecentWorst::kSpan), 1);
  EXPECT_EQ(lag.worst(kNow + 10 * RecentWorst::kSpan), 0);
}

}  // namespace festa::test
