#include "lock/redis/line/line_waiters.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::LineWaiters;
using lock::Millis;

LineWaiters::Waiting one(bool queue) {
  return {.key = "k", .lease = Millis{1000}, .queue = queue};
}

}  // namespace

TEST(LineWaiters, ANewWaiterIsUnknownToTheServerAndStandsInTheLineOfItsKey) {
  LineWaiters waiters;
  const auto first = waiters.add(one(true));
  const auto second = waiters.add(one(true));
  EXPECT_EQ(waiters.find(first)->state, LineWaiters::State::kHere);
  EXPECT_EQ(waiters.lineOf("k")->waiters.head().waiter, first);
  EXPECT_LT(first, second);
  EXPECT_EQ(waiters.inLine("k"), 2U);
  EXPECT_EQ(waiters.inLine("other"), 0U);
}

TEST(LineWaiters, WhoDoesNotQueueIsInNoLine) {
  LineWaiters waiters;
  const auto waiter = waiters.add(one(false));
  EXPECT_TRUE(waiters.find(waiter));
  EXPECT_FALSE(waiters.lineOf("k"));
  EXPECT_TRUE(waiters.remove(waiter));
}

TEST(LineWaiters, WhoDoesNotQueueDoesNotEndALine) {
  LineWaiters waiters;
  waiters.add(one(true));
  EXPECT_FALSE(waiters.remove(waiters.add(one(false))));
  EXPECT_TRUE(waiters.lineOf("k"));
}

TEST(LineWaiters, ALineEndsWithItsLastWaiter) {
  LineWaiters waiters;
  const auto first = waiters.add(one(true));
  const auto second = waiters.add(one(true));
  EXPECT_FALSE(waiters.remove(first));
  EXPECT_FALSE(waiters.find(first));
  EXPECT_TRUE(waiters.remove(second));
  EXPECT_FALSE(waiters.lineOf("k"));
}

TEST(LineWaiters, AnIdIsNotUsedAgainAfterAClear) {
  LineWaiters waiters;
  const auto first = waiters.add(one(true));
  waiters.clear();
  EXPECT_TRUE(waiters.all().empty());
  EXPECT_NE(waiters.add(one(true)), first);
}

}  // namespace festa::test
