#include "controllers/http/rate_limiter.h"

#include "tests/support/test_time.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using std::chrono::seconds;

class RateLimiterTest : public testing::Test {
 protected:
  RateLimiter make(std::int64_t perMinute, std::size_t capacity = 100) {
    return RateLimiter(perMinute, capacity, timeBy([this] { return now_; }));
  }

  RateLimiter::Clock::time_point now_{seconds(1000)};
};

}  // namespace

TEST_F(RateLimiterTest, AMinutesWorthMayComeAtOnceThenAtTheRate) {
  auto limiter = make(6);
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(limiter.take("a"));
  EXPECT_EQ(limiter.take("a"), seconds(10));
  now_ += seconds(4);
  EXPECT_EQ(limiter.take("a"), seconds(6));
  now_ += seconds(6);
  EXPECT_FALSE(limiter.take("a"));
  EXPECT_EQ(limiter.take("a"), seconds(10));
}

TEST_F(RateLimiterTest, NamesDoNotShareABucket) {
  auto limiter = make(1);
  EXPECT_FALSE(limiter.take("a"));
  EXPECT_TRUE(limiter.take("a"));
  EXPECT_FALSE(limiter.take("b"));
}

TEST_F(RateLimiterTest, AFullBucketHoldsNoMoreThanAMinutesWorth) {
  auto limiter = make(2);
  limiter.take("a");
  now_ += std::chrono::hours(1);
  EXPECT_FALSE(limiter.take("a"));
  EXPECT_FALSE(limiter.take("a"));
  EXPECT_TRUE(limiter.take("a"));
}

TEST_F(RateLimiterTest, OnlyFullBucketsAreForgotten) {
  auto limiter = make(1, 2);
  EXPECT_FALSE(limiter.take("a"));
  now_ += seconds(30);
  EXPECT_FALSE(limiter.take("b"));
  // No room, and no bucket is full: the newcomer passes uncounted.
  EXPECT_FALSE(limiter.take("c"));
  EXPECT_EQ(limiter.size(), 2U);
  EXPECT_TRUE(limiter.take("a"));
  now_ += seconds(31);
  EXPECT_FALSE(limiter.take("c"));
  EXPECT_TRUE(limiter.take("c"));
  EXPECT_TRUE(limiter.take("b")) << "its bucket was not full yet";
}

}  // namespace festa::test
