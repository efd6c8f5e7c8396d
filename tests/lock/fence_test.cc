#include "lock/fence.h"

#include <gtest/gtest.h>

namespace festa::test {

using lock::FenceCounter;

namespace {

constexpr std::int64_t token(std::int64_t epoch, std::int64_t counter) {
  return (epoch << 32) + counter;
}

}  // namespace

TEST(FenceCounter, StartsAtOneAndGrowsByOne) {
  FenceCounter fences(7);
  EXPECT_EQ(fences.next(), token(7, 1));
  EXPECT_EQ(fences.next(), token(7, 2));
  EXPECT_EQ(fences.next(), token(7, 3));
}

TEST(FenceCounter, LastTokenOfAnEpochIsBelowTheFirstOfTheNext) {
  FenceCounter earlier(7);
  FenceCounter later(8);
  const auto last = earlier.nextAbove(token(7, FenceCounter::kMaxCounter - 1));
  EXPECT_EQ(last, token(7, FenceCounter::kMaxCounter));
  EXPECT_LT(last, later.next());
}

TEST(FenceCounter, NextAboveJumpsOverAFloorOfItsOwnEpoch) {
  FenceCounter fences(3);
  EXPECT_EQ(fences.nextAbove(token(3, 41)), token(3, 42));
  EXPECT_EQ(fences.next(), token(3, 43));
}

TEST(FenceCounter, NextAboveTheLastTokenIsTheNextOne) {
  FenceCounter fences(3);
  const auto last = fences.next();
  EXPECT_EQ(fences.nextAbove(last), last + 1);
}

TEST(FenceCounter, NextAboveALowerFloorStillGrows) {
  FenceCounter fences(3);
  fences.nextAbove(token(3, 99));
  EXPECT_EQ(fences.nextAbove(token(3, 5)), token(3, 101));
  EXPECT_EQ(fences.nextAbove(0), token(3, 102));
  EXPECT_EQ(fences.nextAbove(-1), token(3, 103));
}

TEST(FenceCounter, NextAboveAFloorOfAnEarlierEpochIsTheNextOne) {
  FenceCounter fences(3);
  EXPECT_EQ(fences.nextAbove(token(2, FenceCounter::kMaxCounter)), token(3, 1));
}

TEST(FenceCounter, HasNothingAboveAFloorOfALaterEpochAndDoesNotMove) {
  FenceCounter fences(3);
  EXPECT_EQ(fences.nextAbove(token(4, 0)), 0);
  EXPECT_EQ(fences.nextAbove(token(FenceCounter::kMaxEpoch, 1)), 0);
  EXPECT_EQ(fences.next(), token(3, 1));
}

TEST(FenceCounter, LargestTokenIsAnExactDouble) {
  FenceCounter fences(FenceCounter::kMaxEpoch);
  const auto floor = token(FenceCounter::kMaxEpoch, FenceCounter::kMaxCounter - 1);
  const auto largest = fences.nextAbove(floor);
  EXPECT_GT(largest, floor);
  EXPECT_LT(largest, std::int64_t{1} << 53);
  EXPECT_EQ(static_cast<std::int64_t>(static_cast<double>(largest)), largest);
}

TEST(FenceCounter, RefusesAnEpochOutOfRange) {
  EXPECT_THROW(FenceCounter(0), std::out_of_range);
  EXPECT_THROW(FenceCounter(-1), std::out_of_range);
  EXPECT_THROW(FenceCounter(FenceCounter::kMaxEpoch + 1), std::out_of_range);
  EXPECT_NO_THROW(FenceCounter(1));
  EXPECT_NO_THROW(FenceCounter(FenceCounter::kMaxEpoch));
}

TEST(FenceCounter, ThrowsRatherThanWrapWhenItIsUsedUp) {
  FenceCounter fences(3);
  fences.nextAbove(token(3, FenceCounter::kMaxCounter - 1));
  EXPECT_THROW(fences.next(), std::out_of_range);
  EXPECT_THROW(fences.nextAbove(token(3, FenceCounter::kMaxCounter)), std::out_of_range);
  EXPECT_THROW(fences.next(), std::out_of_range);
}

}  // namespace festa::test
