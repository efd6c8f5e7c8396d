#include "lock/redis/line/due_times.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::DueTimes;
using lock::Millis;
using lock::SteadyTime;

constexpr SteadyTime at(int ms) {
  return SteadyTime(Millis{ms});
}

}  // namespace

TEST(DueTimes, KeysAreTakenInOrderOfTimeAndNotBefore) {
  DueTimes due;
  due.set("late", at(20));
  due.set("early", at(10));
  EXPECT_EQ(due.nextAt(), at(10));
  EXPECT_FALSE(due.takeDue(at(9)));
  EXPECT_EQ(due.takeDue(at(20)), "early");
  EXPECT_EQ(due.takeDue(at(20)), "late");
  EXPECT_FALSE(due.takeDue(at(20)));
  EXPECT_FALSE(due.nextAt());
}

TEST(DueTimes, AKeyHasOneTime) {
  DueTimes due;
  due.set("k", at(10));
  due.set("k", at(30));
  EXPECT_EQ(due.nextAt(), at(30));
  EXPECT_FALSE(due.takeDue(at(29)));
  EXPECT_EQ(due.takeDue(at(30)), "k");
  EXPECT_FALSE(due.contains("k"));
}

TEST(DueTimes, SetEarlierKeepsTheEarlierTime) {
  DueTimes due;
  due.setEarlier("k", at(20));
  due.setEarlier("k", at(30));
  EXPECT_EQ(due.nextAt(), at(20));
  due.setEarlier("k", at(10));
  EXPECT_EQ(due.nextAt(), at(10));
}

TEST(DueTimes, ARemovedKeyIsNotTaken) {
  DueTimes due;
  due.set("k", at(10));
  due.remove("k");
  due.remove("unknown");
  EXPECT_FALSE(due.takeDue(at(10)));
}

}  // namespace festa::test
