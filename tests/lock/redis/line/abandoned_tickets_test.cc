#include "lock/redis/line/abandoned_tickets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::AbandonedTickets;
using lock::Millis;
using lock::SteadyTime;
using testing::ElementsAre;
using testing::IsEmpty;

class AbandonedTicketsTest : public testing::Test {
 protected:
  // Sends all there is, each command answered by the server; how many commands it took.
  std::size_t leaveAll() {
    std::size_t commands = 0;
    for (auto sent = tickets_.take(now_); !sent.empty(); sent = tickets_.take(now_)) {
      commands += sent.size();
      for (const auto& command : sent) tickets_.answered(command, now_);
    }
    return commands;
  }

  SteadyTime now_{std::chrono::hours(1)};
  AbandonedTickets tickets_;
};

}  // namespace

TEST_F(AbandonedTicketsTest, LeaveAtOnceInBatchesOfOneKey) {
  for (int i = 0; i < 250; ++i) tickets_.add("k1", "a" + std::to_string(i), false);
  tickets_.add("k2", "b", false);
  EXPECT_LE(tickets_.nextAt(), now_);
  const auto sent = tickets_.take(now_);
  ASSERT_EQ(sent.size(), 4U);
  EXPECT_EQ(sent[0].tickets.size(), 100U);
  EXPECT_EQ(sent[1].tickets.size(), 100U);
  EXPECT_EQ(sent[2].tickets.size(), 50U);
  EXPECT_EQ(sent[3].key, "k2");
  EXPECT_THAT(sent[3].tickets, ElementsAre("b"));
}

TEST_F(AbandonedTicketsTest, AreSentOnceWhileTheServerAnswers) {
  for (int i = 0; i < 5000; ++i) tickets_.add("k", std::to_string(i), false);
  EXPECT_EQ(leaveAll(), 50U);
  EXPECT_FALSE(tickets_.nextAt());
}

TEST_F(AbandonedTicketsTest, NoMoreIsSentWhileCommandsAreUnderWay) {
  for (int i = 0; i < 3000; ++i) tickets_.add("k", std::to_string(i), false);
  const auto sent = tickets_.take(now_);
  EXPECT_EQ(sent.size(), AbandonedTickets::kCommands);
  EXPECT_FALSE(tickets_.nextAt());
  for (std::size_t i = 1; i < sent.size(); ++i) tickets_.answered(sent[i], now_);
  EXPECT_THAT(tickets_.take(now_), IsEmpty());
  tickets_.answered(sent[0], now_);
  EXPECT_EQ(tickets_.take(now_).size(), 14U);
}

TEST_F(AbandonedTicketsTest, AreRepeatedAfterAPauseUntilTheServerAnswers) {
  tickets_.add("k", "a", false);
  for (int i = 0; i < 1000; ++i) {
    const auto sent = tickets_.take(now_);
    ASSERT_EQ(sent.size(), 1U);
    ASSERT_THAT(sent[0].tickets, ElementsAre("a"));
    tickets_.lost(sent[0], now_);
    ASSERT_THAT(tickets_.take(now_), IsEmpty());
    ASSERT_GT(tickets_.nextAt(), now_);
    now_ = *tickets_.nextAt();
  }
  EXPECT_EQ(leaveAll(), 1U);
  EXPECT_FALSE(tickets_.nextAt());
}

TEST_F(AbandonedTicketsTest, LeaveASecondTimeWhenTheirArrivalMayComeLate) {
  tickets_.add("k", "late", true);
  tickets_.add("k", "there", false);
  EXPECT_EQ(leaveAll(), 1U);
  ASSERT_TRUE(tickets_.nextAt());
  EXPECT_GT(*tickets_.nextAt(), now_);
  now_ = *tickets_.nextAt();
  const auto again = tickets_.take(now_);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_THAT(again[0].tickets, ElementsAre("late"));
  tickets_.answered(again[0], now_);
  EXPECT_FALSE(tickets_.nextAt());
}

TEST_F(AbandonedTicketsTest, BeyondABoundAreNotRemembered) {
  for (std::size_t i = 0; i < AbandonedTickets::kMost + 10; ++i)
    tickets_.add("k", std::to_string(i), false);
  EXPECT_EQ(tickets_.size(), AbandonedTickets::kMost);
}

}  // namespace festa::test
