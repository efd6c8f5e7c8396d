#include "lock/redis/redlock/quorum.h"

#include <gtest/gtest.h>

namespace festa::test {

using lock::Millis;
using lock::Quorum;
using lock::SteadyTime;
using lock::Validity;
using Verdict = lock::Quorum::Verdict;

TEST(Quorum, FewerThanThreeOrAnEvenNumberOfNodesIsRefused) {
  for (const std::size_t nodes : {0, 1, 2, 4, 6})
    EXPECT_THROW(Quorum{nodes}, std::invalid_argument) << nodes;
  for (const std::size_t nodes : {3, 5, 7}) EXPECT_NO_THROW(Quorum{nodes}) << nodes;
}

TEST(Quorum, AMajorityIsMoreThanHalf) {
  EXPECT_EQ(Quorum(3).majority(), 2U);
  EXPECT_EQ(Quorum(5).majority(), 3U);
  EXPECT_EQ(Quorum(7).majority(), 4U);
}

TEST(Quorum, IsOpenUntilAMajorityHasGranted) {
  Quorum vote(5);
  EXPECT_EQ(vote.verdict(), Verdict::kOpen);
  vote.grant();
  vote.grant();
  EXPECT_EQ(vote.verdict(), Verdict::kOpen);
  vote.grant();
  EXPECT_EQ(vote.verdict(), Verdict::kGranted);
}

TEST(Quorum, AMinorityAgainstItChangesNothing) {
  Quorum vote(5);
  vote.refuse();
  vote.fail();
  EXPECT_EQ(vote.verdict(), Verdict::kOpen);
  for (int i = 0; i < 3; ++i) vote.grant();
  EXPECT_EQ(vote.verdict(), Verdict::kGranted);
  EXPECT_FALSE(vote.isUnavailable());
}

TEST(Quorum, IsDecidedAsSoonAsNoMajorityCanGrantAnyMore) {
  Quorum vote(5);
  vote.grant();
  vote.grant();
  vote.refuse();
  vote.fail();
  EXPECT_EQ(vote.verdict(), Verdict::kOpen);
  vote.refuse();
  EXPECT_EQ(vote.verdict(), Verdict::kNot);
  EXPECT_FALSE(vote.isRefused()) << "two is no majority";
  EXPECT_FALSE(vote.isUnavailable());
}

TEST(Quorum, RefusalsAndFailuresAreToldApart) {
  Quorum refused(3);
  refused.refuse();
  refused.refuse();
  EXPECT_TRUE(refused.isRefused());
  EXPECT_FALSE(refused.isUnavailable());
  Quorum failed(3);
  failed.fail();
  failed.fail();
  EXPECT_TRUE(failed.isUnavailable());
  EXPECT_FALSE(failed.isRefused());
  EXPECT_EQ(failed.verdict(), Verdict::kNot);
}

TEST(Quorum, ANodeThatHasNotVotedWhenTheVoteClosesHasFailed) {
  Quorum vote(5);
  vote.grant();
  vote.grant();
  vote.closeVote();
  EXPECT_EQ(vote.verdict(), Verdict::kNot);
  EXPECT_TRUE(vote.isUnavailable());
  EXPECT_EQ(vote.open(), 0U);
}

TEST(Quorum, ClosingDoesNotTouchADecision) {
  Quorum vote(3);
  vote.grant();
  vote.grant();
  vote.closeVote();
  EXPECT_EQ(vote.verdict(), Verdict::kGranted);
}

TEST(Quorum, IsClearWhenAMajorityIsOfOneMindOrNoNodeIsLeft) {
  Quorum vote(5);
  vote.refuse();
  vote.refuse();
  vote.fail();
  EXPECT_EQ(vote.verdict(), Verdict::kNot);
  EXPECT_FALSE(vote.isClear()) << "the other two may still make it a refusal";
  vote.refuse();
  EXPECT_TRUE(vote.isClear());
  Quorum mixed(3);
  mixed.grant();
  mixed.refuse();
  EXPECT_FALSE(mixed.isClear());
  mixed.fail();
  EXPECT_TRUE(mixed.isClear());
}

TEST(Validity, IsTheLeaseLessWhatHasPassedLessTheMargin) {
  const SteadyTime sent{Millis{500}};
  const Validity validity(sent, Millis{1000});
  EXPECT_EQ(validity.left(sent), Millis{1000} - lock::driftMargin(Millis{1000}));
  EXPECT_EQ(validity.left(sent + Millis{300}), Millis{700} - lock::driftMargin(Millis{1000}));
  EXPECT_EQ(validity.until(), sent + Millis{1000} - lock::driftMargin(Millis{1000}));
}

TEST(Validity, IsOverWhenNothingIsLeft) {
  const SteadyTime sent{Millis{500}};
  const Validity validity(sent, Millis{1000});
  EXPECT_FALSE(validity.isOver(validity.until() - std::chrono::nanoseconds(1)));
  EXPECT_TRUE(validity.isOver(validity.until()));
  EXPECT_TRUE(validity.isOver(validity.until() + Millis{1}));
}

TEST(Validity, OfALeaseNoLongerThanItsMarginIsOverBeforeItBegins) {
  const SteadyTime sent{Millis{500}};
  EXPECT_TRUE(Validity(sent, Millis{2}).isOver(sent));
  EXPECT_FALSE(Validity(sent, Millis{3}).isOver(sent));
}

}  // namespace festa::test
