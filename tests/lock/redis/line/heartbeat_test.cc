#include "lock/redis/line/heartbeat.h"

#include <gtest/gtest.h>

#include <vector>

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

TEST(Heartbeat, TwoBeatsWithoutAnEchoMakeItLook) {
  auto heartbeat = hearing();
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(heartbeat.beat(kStart).look) << "the server may have paused";
    heartbeat.ended();
  }
  EXPECT_TRUE(heartbeat.beat(kStart).look);
  EXPECT_TRUE(heartbeat.heard());
}

TEST(Heartbeat, ALateEchoIsNoLoss) {
  auto heartbeat = hearing();
  heartbeat.beat(kStart);
  heartbeat.ended();
  heartbeat.beat(kStart);
  heartbeat.ended();
  EXPECT_FALSE(heartbeat.heard());
  EXPECT_FALSE(heartbeat.beat(kStart).look);
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

TEST(Heartbeat, OnlyAProcessThatHearsMessagesNumbersItsBeats) {
  Heartbeat heartbeat;
  heartbeat.start(kStart);
  EXPECT_EQ(heartbeat.beat(kStart).number, 0U);
  heartbeat.ended();
  heartbeat.heard();
  for (std::uint64_t number = 1; number <= 2; ++number) {
    EXPECT_EQ(heartbeat.beat(kStart).number, number);
    heartbeat.ended();
  }
  EXPECT_EQ(heartbeat.beat(kStart).number, 0U) << "no echo has come";
}

TEST(Heartbeat, RemembersWhenItsLastBeatsWereSent) {
  auto heartbeat = hearing();
  std::vector<SteadyTime> sent;
  for (int i = 0; i < 6; ++i) {
    sent.push_back(kStart + i * Heartbeat::kEvery);
    EXPECT_EQ(heartbeat.beat(sent.back()).number, static_cast<std::uint64_t>(i + 1));
    heartbeat.ended();
    heartbeat.heard();
  }
  EXPECT_FALSE(heartbeat.sentAt(0));
  EXPECT_FALSE(heartbeat.sentAt(2)) << "its time is not remembered";
  for (std::uint64_t number = 3; number <= 6; ++number)
    EXPECT_EQ(heartbeat.sentAt(number), sent[number - 1]);
  EXPECT_FALSE(heartbeat.sentAt(7));
}

}  // namespace festa::test
