#include "lock/grant_order.h"

#include <gtest/gtest.h>

#include <random>

namespace festa::test {

namespace {

using lock::OrderedGrant;
using lock::overtakingsIn;
using lock::SteadyTime;

OrderedGrant granted(std::int64_t sent, std::int64_t received, std::int64_t fence) {
  return {SteadyTime(std::chrono::nanoseconds(sent)),
          SteadyTime(std::chrono::nanoseconds(received)), fence};
}

}  // namespace

TEST(GrantOrder, ReceivedBeforeTheOtherWasSentMeansGrantedBefore) {
  EXPECT_TRUE(overtakingsIn({}).empty());
  EXPECT_TRUE(overtakingsIn({granted(1, 2, 1), granted(3, 4, 2), granted(5, 6, 3)}).empty());
  const auto found = overtakingsIn({granted(1, 2, 2), granted(3, 4, 1)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].overtaken, 0U);
  EXPECT_EQ(found[0].by, 1U);
}

TEST(GrantOrder, RequestsThatWereUnderWayTogetherHaveNone) {
  EXPECT_TRUE(overtakingsIn({granted(1, 4, 2), granted(3, 6, 1)}).empty());
  EXPECT_TRUE(overtakingsIn({granted(1, 3, 2), granted(3, 6, 1)}).empty()) << "at the same moment";
}

TEST(GrantOrder, OneThatPassesManyOvertakesEachOfThem) {
  const auto found =
      overtakingsIn({granted(1, 2, 20), granted(3, 4, 30), granted(90, 91, 10), granted(5, 6, 40)});
  ASSERT_EQ(found.size(), 3U);
  for (const auto& one : found) EXPECT_EQ(one.by, 2U);
  EXPECT_EQ(found[2].overtaken, 3U);
}

TEST(GrantOrder, OneThatIsPassedByManyIsOvertakenOnce) {
  const auto found = overtakingsIn({granted(1, 2, 9), granted(3, 4, 1), granted(5, 6, 2)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].overtaken, 0U);
}

// Compared with every pair.
TEST(GrantOrder, IsTheSameAsLookingAtAllPairs) {
  std::mt19937 random(20261118);
  for (int round = 0; round < 200; ++round) {
    std::vector<OrderedGrant> grants;
    for (int i = 0; i < 30; ++i) {
      const auto sent = static_cast<std::int64_t>(random() % 60);
      grants.push_back(granted(sent, sent + static_cast<std::int64_t>(random() % 20), i));
    }
    std::shuffle(grants.begin(), grants.end(), random);
    std::size_t expected = 0;
    for (const auto& a : grants)
      for (const auto& b : grants)
        if (a.received < b.sent && b.fence < a.fence) {
          ++expected;
          break;
        }
    const auto found = overtakingsIn(grants);
    EXPECT_EQ(found.size(), expected);
    for (const auto& one : found) {
      EXPECT_LT(grants[one.overtaken].received, grants[one.by].sent);
      EXPECT_GT(grants[one.overtaken].fence, grants[one.by].fence);
    }
  }
}

}  // namespace festa::test
