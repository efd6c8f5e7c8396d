#include "lock/redis/heartbeat.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::Heartbeat;
using lock::SteadyTime;

constexpr SteadyTime kStart{std::chrono::hours(1)};

// Runs and has heard the echo of its first beat.
Heartbeat hearing() {
  Heartbeat heartbeat;
  heartbeat.start(kStart);
  heartbeat.beat(kStart);
  heartbeat.ended();
  heartbeat.heard();
  return heartbeat;
}

}  // namespace

TEST(Heartbeat, BeatsAtOnceWhenNoMessageHasEverArrived) {
  Heartbeat heartbeat;
  EXPECT_FALSE(heartbeat.isRunning());
  heartbeat.start(kStart);
  ASSERT_TRUE(heartbeat.isDue(kStart));
  const auto due = heartbeat.beat(kStart);
  EXPECT_TRUE(due.send && due.look);
  EXPECT_EQ(heartbeat.nextAt(), kStart + Heartbeat::kEveryWhileDeaf);
}

TEST(Heartbeat, TheFirstMessageSaysThatEarlierOnesMayBeLost) {
  Heartbeat heartbeat;
  heartbeat.start(kStart);
  heartbeat.beat(kStart);
  EXPECT_TRUE(heartbeat.heard());
  EXPECT_FALSE(heartbeat.heard());
}

TEST(Heartbeat, LooksNoMoreWhenMessagesArrive) {
  auto heartbeat = hearing();
  const auto due = heartbeat.beat(kStart);
  EXPECT_TRUE(due.send);
  EXPECT_FALSE(due.look);
  EXPECT_EQ(heartbeat.nextAt(), kStart + Heartbeat::kEvery);
}

TEST(Heartbeat, ABeatWithoutAnEchoMakesItLook) {
  auto heartbeat = hearing();
  heartbeat.beat(kStart);
  heartbeat.ended();
  EXPECT_TRUE(heartbeat.beat(kStart).look);
  EXPECT_TRUE(heartbeat.heard());
}

TEST(Heartbeat, OneBeatIsUnderWayAtATime) {
  auto heartbeat = hearing();
  EXPECT_TRUE(heartbeat.beat(kStart).send);
  EXPECT_FALSE(heartbeat.beat(kStart).send);
  heartbeat.ended();
  EXPECT_TRUE(heartbeat.beat(kStart).send);
}

TEST(Heartbeat, TrustsMessagesAgainAfterARest) {
  auto heartbeat = hearing();
  heartbeat.beat(kStart);
  heartbeat.stop();
  EXPECT_FALSE(heartbeat.nextAt());
  heartbeat.start(kStart);
  EXPECT_EQ(heartbeat.nextAt(), kStart + Heartbeat::kEvery);
  EXPECT_FALSE(heartbeat.beat(kStart).look);
}

}  // namespace festa::test
