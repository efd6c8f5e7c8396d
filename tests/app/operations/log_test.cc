#include "app/operations/log.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

LogThrottle::Time at(int milliseconds) {
  return LogThrottle::Time(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST(LogThrottle, LinesBeyondTheLimitOfASecondAreCountedAndToldWithTheNext) {
  LogThrottle throttle(2);
  EXPECT_EQ(throttle.mayWrite("a:1", at(0)), 0U);
  EXPECT_EQ(throttle.mayWrite("a:1", at(10)), 0U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(throttle.mayWrite("a:1", at(20 + i)), std::nullopt);
  EXPECT_EQ(throttle.mayWrite("a:1", at(999)), std::nullopt);
  EXPECT_EQ(throttle.mayWrite("a:1", at(1000)), 6U);
  EXPECT_EQ(throttle.mayWrite("a:1", at(1001)), 0U);
  EXPECT_EQ(throttle.mayWrite("a:1", at(1002)), std::nullopt);
}

TEST(LogThrottle, PlacesAreCountedApart) {
  LogThrottle throttle(1);
  EXPECT_EQ(throttle.mayWrite("a:1", at(0)), 0U);
  EXPECT_EQ(throttle.mayWrite("b:1", at(0)), 0U);
  EXPECT_EQ(throttle.mayWrite("a:1", at(1)), std::nullopt);
}

}  // namespace festa::test
