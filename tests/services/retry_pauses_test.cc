#include "services/retry_pauses.h"

#include <gtest/gtest.h>

namespace festa {
namespace {

using std::chrono::milliseconds;

TEST(RetryPauses, EachPauseIsInTheUpperHalfOfACeilingThatDoublesUpToTheLongest) {
  RetryPauses pauses(milliseconds{10}, milliseconds{35});
  for (const milliseconds ceiling :
       {milliseconds{10}, milliseconds{20}, milliseconds{35}, milliseconds{35}}) {
    const auto pause = pauses.next();
    EXPECT_GE(pause, ceiling / 2);
    EXPECT_LE(pause, ceiling);
  }
}

TEST(RetryPauses, ASkippedPauseDoublesTheCeiling) {
  RetryPauses pauses(milliseconds{10}, milliseconds{1000});
  pauses.skip();
  pauses.skip();
  EXPECT_GE(pauses.next(), milliseconds{20});
}

TEST(RetryPauses, PausesOfTwoCallersDiffer) {
  RetryPauses one(milliseconds{1000}, milliseconds{1000});
  RetryPauses other(milliseconds{1000}, milliseconds{1000});
  bool differ = false;
  for (int i = 0; i < 10; ++i) differ = differ || one.next() != other.next();
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace festa
