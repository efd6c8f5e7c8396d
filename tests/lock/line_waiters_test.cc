#include "lock/redis/line_waiters.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::LineWaiters;
using lock::Millis;

constexpr Millis kLease{1000};

}  // namespace

TEST(LineWaiters, ANewWaiterAsksAndStandsInTheLineOfItsKey) {
  LineWaiters waiters;
  const auto first = waiters.add("k", kLease, true);
  const auto second = waiters.add("k", kLease, true);
  EXPECT_EQ(waiters.find(first)->state, LineWaiters::State::kAsking);
  EXPECT_EQ(waiters.lineOf("k")->waiters, (std::set{first, second}));
  EXPECT_EQ(waiters.inLine("k"), 2U);
  EXPECT_EQ(waiters.inLine("other"), 0U);
}

TEST(LineWaiters, WhoDoesNotQueueIsInNoLine) {
  LineWaiters waiters;
  const auto waiter = waiters.add("k", kLease, false);
  EXPECT_TRUE(waiters.find(waiter));
  EXPECT_FALSE(waiters.lineOf("k"));
  EXPECT_TRUE(waiters.remove(waiter));
}

TEST(LineWaiters, WhoDoesNotQueueDoesNotEndALine) {
  LineWaiters waiters;
  waiters.add("k", kLease, true);
  EXPECT_FALSE(waiters.remove(waiters.add("k", kLease, false)));
  EXPECT_TRUE(waiters.lineOf("k"));
}

TEST(LineWaiters, ALineEndsWithItsLastWaiter) {
  LineWaiters waiters;
  const auto first = waiters.add("k", kLease, true);
  const auto second = waiters.add("k", kLease, true);
  EXPECT_FALSE(waiters.remove(first));
  EXPECT_FALSE(waiters.find(first));
  EXPECT_TRUE(waiters.remove(second));
  EXPECT_FALSE(waiters.lineOf("k"));
}

TEST(LineWaiters, AnIdIsNotUsedAgainAfterAClear) {
  LineWaiters waiters;
  const auto first = waiters.add("k", kLease, true);
  waiters.clear();
  EXPECT_TRUE(waiters.all().empty());
  EXPECT_NE(waiters.add("k", kLease, true), first);
}

}  // namespace festa::test
