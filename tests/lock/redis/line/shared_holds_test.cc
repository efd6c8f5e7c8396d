#include "lock/redis/line/shared_holds.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;
using lock::SharedHolds;
using lock::SteadyTime;
using Tickets = std::vector<std::string>;

constexpr SteadyTime kStart{std::chrono::hours(1)};
constexpr Millis kLease{8000};

class SharedHoldsTest : public testing::Test {
 protected:
  // The hold of `leader`, with these followers.
  Lease begin(const std::string& leader, std::int64_t fence, const Tickets& followers) {
    left_ = holds_.begin("k", {leader, fence, followers}, {.lease = kLease, .sent = kStart});
    return {"k", leader, fence, kStart + kLease - lock::driftMargin(kLease)};
  }
  // The hold of "a" with fence 5 and this many fences for waiters without a place.
  Lease beginWithSpare(int spare) {
    holds_.begin("k", {"a", 5, {}, spare}, {.lease = kLease, .sent = kStart, .isKept = true});
    return {"k", "a", 5, kStart + kLease - lock::driftMargin(kLease)};
  }
  // The next named one has the key, and only it.
  Lease follow(const Lease& before) {
    EXPECT_TRUE(holds_.mayFollow("k", kStart));
    EXPECT_TRUE(holds_.leaveTurn(before));
    return join();
  }
  Lease join() { return holds_.join("k", *holds_.named("k"), true); }

  SharedHolds holds_;
  Tickets left_;  // by the last begin()
};

}  // namespace

TEST_F(SharedHoldsTest, FollowersHaveTheirTurnInOrderWithTheFencesAfterTheLeaders) {
  const auto leader = begin("a", 5, {"b", "c"});
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kNow);
  const auto first = follow(leader);
  EXPECT_EQ(first.owner, "b");
  EXPECT_EQ(first.fence, 6);
  EXPECT_EQ(first.validUntil, leader.validUntil);
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kOver);
  EXPECT_EQ(holds_.turnOf(first), SharedHolds::Turn::kNow);
  EXPECT_EQ(holds_.leaderOf(first), "a");
  EXPECT_EQ(follow(first).owner, "c");
  EXPECT_FALSE(holds_.mayFollow("k", kStart));
  EXPECT_FALSE(holds_.named("k"));
}

TEST_F(SharedHoldsTest, AFollowerThatIsPassedUsesNoFence) {
  begin("a", 5, {"b", "c"});
  holds_.pass("k");
  const auto second = join();
  EXPECT_EQ(second.owner, "c");
  EXPECT_EQ(second.fence, 6);
}

TEST_F(SharedHoldsTest, WaitersWithoutAPlaceFollowWhileFencesAreLeft) {
  const auto leader = beginWithSpare(2);
  EXPECT_TRUE(holds_.leaveTurn(leader));
  EXPECT_EQ(holds_.join("k", "x", false).fence, 6);
  EXPECT_EQ(holds_.join("k", "y", false).fence, 7);
  EXPECT_FALSE(holds_.mayFollow("k", kStart));
  EXPECT_FALSE(holds_.nextAt()) << "they have no places to leave";
  EXPECT_TRUE(holds_.leave("k").followers.empty());
}

TEST_F(SharedHoldsTest, ATurnIsOverWhenAllWhoHaveTheKeyTogetherHaveGivenItBack) {
  const auto leader = beginWithSpare(2);
  const auto second = holds_.join("k", "x", false);
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kNow);
  EXPECT_FALSE(holds_.leaveTurn(leader));
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kOver);
  EXPECT_EQ(holds_.turnOf(second), SharedHolds::Turn::kNow);
  EXPECT_TRUE(holds_.leaveTurn(second));
}

TEST_F(SharedHoldsTest, NoWaiterFollowsUnderAHoldThatIsNotYoung) {
  begin("a", 5, {"b"});
  EXPECT_FALSE(holds_.mayFollow("k", kStart + lock::youngTime(kLease)));
  EXPECT_TRUE(holds_.mayFollow("k", kStart + lock::youngTime(kLease) - Millis{1}));
}

TEST_F(SharedHoldsTest, AHoldWithoutFollowersIsRememberedOnlyWhenToldSo) {
  EXPECT_EQ(holds_.turnOf(begin("a", 5, {})), SharedHolds::Turn::kAlone);
  EXPECT_FALSE(holds_.held("k", kStart));
  const auto kept = beginWithSpare(0);
  EXPECT_EQ(holds_.turnOf(kept), SharedHolds::Turn::kNow);
  ASSERT_TRUE(holds_.held("k", kStart));
  EXPECT_EQ(holds_.held("k", kStart)->validUntil, kept.validUntil);
  EXPECT_FALSE(holds_.held("k", kept.validUntil));
}

TEST_F(SharedHoldsTest, TurnsInARowAreCounted) {
  holds_.begin("k", {"a", 5}, {.lease = kLease, .sent = kStart, .isKept = true, .turns = 3});
  holds_.beginTurn("k");
  EXPECT_EQ(holds_.held("k", kStart)->turns, 4);
  EXPECT_EQ(holds_.leave("k").turns, 4);
}

TEST_F(SharedHoldsTest, TheHoldIsGivenBackWithAllWhoHadATurn) {
  follow(follow(begin("a", 5, {"b", "c", "d"})));
  const auto leave = holds_.leave("k");
  EXPECT_EQ(leave.ticket, "a");
  EXPECT_EQ(leave.followers, (Tickets{"b", "c"}));
  EXPECT_FALSE(holds_.nextAt());
}

TEST_F(SharedHoldsTest, PlacesAreLeftWhenAHoldIsNotGivenBackInTime) {
  const auto leader = begin("a", 5, {"b"});
  EXPECT_FALSE(holds_.nextAt()) << "no waiter has followed";
  follow(leader);
  ASSERT_EQ(holds_.nextAt(), leader.validUntil);
  const auto old = holds_.takeOld(leader.validUntil);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->tickets, Tickets{"b"});
  EXPECT_FALSE(holds_.takeOld(leader.validUntil));
  EXPECT_EQ(holds_.leave("k").ticket, "a") << "it may still be given back";
}

TEST_F(SharedHoldsTest, AProlongedHoldIsOldLater) {
  auto follower = follow(begin("a", 5, {"b"}));
  follower.validUntil += Millis{1000};
  holds_.prolonged(follower);
  EXPECT_EQ(holds_.nextAt(), follower.validUntil);
}

TEST_F(SharedHoldsTest, ALaterHoldLeavesThePlacesOfTheEarlierOne) {
  follow(begin("a", 5, {"b"}));
  begin("c", 9, {});
  EXPECT_EQ(left_, Tickets{"b"});
  EXPECT_FALSE(holds_.nextAt());
}

TEST_F(SharedHoldsTest, ALateReplyAboutAnEarlierHoldChangesNothing) {
  const auto leader = begin("a", 5, {"b"});
  begin("z", 4, {"y"});
  EXPECT_TRUE(left_.empty());
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kNow);
  EXPECT_EQ(follow(leader).owner, "b");
}

TEST_F(SharedHoldsTest, NoWaiterFollowsAfterTheTurnsHaveEnded) {
  begin("a", 5, {"b"});
  holds_.endTurns("k");
  EXPECT_FALSE(holds_.mayFollow("k", kStart));
  EXPECT_FALSE(holds_.named("k"));
}

}  // namespace festa::test
