#include "lock/redis/shared_holds.h"

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
  Lease begin(const std::string& leader, std::int64_t fence, const Tickets& followers,
              SteadyTime sent = kStart) {
    left_ = holds_.begin("k", {leader, fence, followers}, kLease, sent);
    return {"k", leader, fence, sent + kLease - lock::driftMargin(kLease)};
  }
  Lease follow() { return holds_.giveTurn("k", holds_.nextFollower("k", kStart).value()); }

  SharedHolds holds_;
  Tickets left_;  // by the last begin()
};

}  // namespace

TEST_F(SharedHoldsTest, FollowersHaveTheirTurnInOrderWithTheFencesAfterTheLeaders) {
  const auto leader = begin("a", 5, {"b", "c"});
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kNow);
  const auto first = follow();
  EXPECT_EQ(first.owner, "b");
  EXPECT_EQ(first.fence, 6);
  EXPECT_EQ(first.validUntil, leader.validUntil);
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kOver);
  EXPECT_EQ(holds_.turnOf(first), SharedHolds::Turn::kNow);
  EXPECT_EQ(holds_.leaderOf(first), "a");
  EXPECT_EQ(follow().owner, "c");
  EXPECT_FALSE(holds_.nextFollower("k", kStart));
}

TEST_F(SharedHoldsTest, AFollowerThatIsPassedUsesItsFence) {
  begin("a", 5, {"b", "c"});
  holds_.nextFollower("k", kStart);
  const auto second = follow();
  EXPECT_EQ(second.owner, "c");
  EXPECT_EQ(second.fence, 7);
}

TEST_F(SharedHoldsTest, NobodyFollowsUnderAHoldThatIsNotYoung) {
  begin("a", 5, {"b"});
  EXPECT_FALSE(holds_.nextFollower("k", kStart + lock::youngTime(kLease)));
  EXPECT_TRUE(holds_.nextFollower("k", kStart + lock::youngTime(kLease) - Millis{1}));
}

TEST_F(SharedHoldsTest, AHoldWithoutFollowersIsNotShared) {
  const auto lease = begin("a", 5, {});
  EXPECT_EQ(holds_.turnOf(lease), SharedHolds::Turn::kAlone);
  EXPECT_EQ(holds_.leave(lease).ticket, "a");
}

TEST_F(SharedHoldsTest, TheHoldIsGivenBackWithAllWhoHadATurn) {
  begin("a", 5, {"b", "c", "d"});
  follow();
  const auto leave = holds_.leave(follow());
  EXPECT_EQ(leave.ticket, "a");
  EXPECT_EQ(leave.followers, (Tickets{"b", "c"}));
  EXPECT_FALSE(holds_.nextAt());
}

TEST_F(SharedHoldsTest, PlacesAreLeftWhenAHoldIsNotGivenBackInTime) {
  const auto leader = begin("a", 5, {"b"});
  EXPECT_FALSE(holds_.nextAt()) << "nobody has followed";
  const auto follower = follow();
  ASSERT_EQ(holds_.nextAt(), leader.validUntil);
  const auto old = holds_.takeOld(leader.validUntil);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->tickets, Tickets{"b"});
  EXPECT_FALSE(holds_.takeOld(leader.validUntil));
  EXPECT_EQ(holds_.leave(follower).ticket, "a") << "it may still be given back";
}

TEST_F(SharedHoldsTest, AProlongedHoldIsOldLater) {
  begin("a", 5, {"b"});
  auto follower = follow();
  follower.validUntil += Millis{1000};
  holds_.prolonged(follower);
  EXPECT_EQ(holds_.nextAt(), follower.validUntil);
}

TEST_F(SharedHoldsTest, ALaterHoldLeavesThePlacesOfTheEarlierOne) {
  begin("a", 5, {"b"});
  follow();
  begin("c", 9, {});
  EXPECT_EQ(left_, Tickets{"b"});
  EXPECT_FALSE(holds_.nextAt());
}

TEST_F(SharedHoldsTest, ALateReplyAboutAnEarlierHoldChangesNothing) {
  const auto leader = begin("a", 5, {"b"});
  begin("z", 4, {"y"});
  EXPECT_TRUE(left_.empty());
  EXPECT_EQ(holds_.turnOf(leader), SharedHolds::Turn::kNow);
  EXPECT_EQ(follow().owner, "b");
}

TEST_F(SharedHoldsTest, NobodyFollowsAfterTheTurnsHaveEnded) {
  begin("a", 5, {"b"});
  holds_.endTurns("k");
  EXPECT_FALSE(holds_.nextFollower("k", kStart));
}

}  // namespace festa::test
