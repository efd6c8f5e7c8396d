#include "lock/memory/waiting_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace festa::test {

namespace {

using lock::Companions;
using lock::LockTableLimits;
using lock::Millis;
using lock::WaiterId;
using lock::WaitingLine;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Millis kLease{1000};

WaitingLine lineOf(WaiterId count) {
  WaitingLine line;
  for (WaiterId id = 1; id <= count; ++id) line.push({id, kLease, 1});
  return line;
}

std::vector<WaiterId> idsOf(const WaitingLine& line) {
  std::vector<WaiterId> ids;
  for (const auto& place : line) ids.push_back(place.waiter);
  return ids;
}

// How many of `together` hold the key with the first of them.
std::size_t companyOf(const std::vector<std::size_t>& together) {
  Companions companions(kLease, together[0], 1);
  std::size_t count = 1;
  while (count < together.size() && companions.joins(kLease, together[count])) ++count;
  return count;
}

}  // namespace

TEST(WaitingLine, IsInOrderOfArrival) {
  auto line = lineOf(3);
  EXPECT_THAT(idsOf(line), ElementsAre(1, 2, 3));
  EXPECT_EQ(line.head().waiter, 1U);
  line.pop();
  EXPECT_EQ(line.head().waiter, 2U);
  EXPECT_EQ(line.size(), 2U);
}

TEST(WaitingLine, AnEmptyLineHasNoPlaces) {
  const WaitingLine line;
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(line.size(), 0U);
  EXPECT_THAT(idsOf(line), IsEmpty());
}

TEST(WaitingLine, ACancelledWaiterIsPassedOver) {
  auto line = lineOf(4);
  EXPECT_TRUE(line.cancel(2));
  EXPECT_THAT(idsOf(line), ElementsAre(1, 3, 4));
  EXPECT_EQ(line.size(), 3U);
  line.pop();
  EXPECT_EQ(line.head().waiter, 3U);
}

TEST(WaitingLine, TheHeadAndTheLastOneCanBeCancelled) {
  auto line = lineOf(3);
  EXPECT_TRUE(line.cancel(1));
  EXPECT_EQ(line.head().waiter, 2U);
  EXPECT_TRUE(line.cancel(3));
  EXPECT_THAT(idsOf(line), ElementsAre(2));
  EXPECT_TRUE(line.cancel(2));
  EXPECT_TRUE(line.empty());
  EXPECT_EQ(line.size(), 0U);
}

TEST(WaitingLine, WhatIsNotInTheLineIsNotCancelled) {
  auto line = lineOf(3);
  EXPECT_FALSE(line.cancel(4));
  EXPECT_TRUE(line.cancel(2));
  EXPECT_FALSE(line.cancel(2)) << "twice";
  line.pop();
  EXPECT_FALSE(line.cancel(1)) << "after its turn";
  EXPECT_EQ(line.size(), 1U);
}

TEST(WaitingLine, AClearedLineCanBeUsedAgain) {
  auto line = lineOf(3);
  line.cancel(2);
  line.clear();
  EXPECT_TRUE(line.empty());
  line.push({9, kLease, 1});
  EXPECT_EQ(line.size(), 1U);
  EXPECT_THAT(idsOf(line), ElementsAre(9));
}

// Against a plain list that searches.
TEST(WaitingLine, IsLikeAPlainListWhateverHappens) {
  std::mt19937 random(7);
  WaitingLine line;
  std::vector<WaiterId> plain;
  WaiterId last = 0;
  for (int step = 0; step < 20'000; ++step) {
    const auto kind = random() % 8;
    if (kind < 3) {
      last += 1 + random() % 3;
      line.push({last, kLease, 1});
      plain.push_back(last);
    } else if (kind == 3 && !plain.empty()) {
      line.pop();
      plain.erase(plain.begin());
    } else if (last > 0) {
      const WaiterId id = plain.empty() ? last : plain[random() % plain.size()] + random() % 2;
      EXPECT_EQ(line.cancel(id), std::erase(plain, id) > 0);
    }
    ASSERT_EQ(line.size(), plain.size());
    ASSERT_EQ(line.empty(), plain.empty());
    if (!plain.empty()) {
      ASSERT_EQ(line.head().waiter, plain.front());
    }
    if (step % 16 == 0) {
      ASSERT_EQ(idsOf(line), plain);
    }
  }
}

TEST(LockTableLimits, BoundTheLineOfAKeyAndAllLines) {
  const LockTableLimits limits{.waitersPerKey = 2, .waitersInAll = 3};
  EXPECT_FALSE(limits.areReached(1, 2));
  EXPECT_TRUE(limits.areReached(2, 2));
  EXPECT_TRUE(limits.areReached(0, 3));
}

TEST(Companions, AreAsManyAsEachOfThemAllows) {
  EXPECT_EQ(companyOf({1, 5, 5}), 1U);
  EXPECT_EQ(companyOf({2, 5, 5}), 2U);
  EXPECT_EQ(companyOf({5, 5, 5}), 3U);
  EXPECT_EQ(companyOf({5, 2, 5}), 2U) << "the second allows no third";
  EXPECT_EQ(companyOf({5, 5, 2, 5}), 2U) << "the third would be one too many for itself";
  EXPECT_EQ(companyOf({5, 1}), 1U) << "one that is alone joins no other";
}

TEST(Companions, HaveTheLeaseOfTheHold) {
  Companions companions(kLease, 3, 1);
  EXPECT_FALSE(companions.joins(kLease + Millis{1}, 3));
}

TEST(Companions, CountThoseThatHaveTheKeyAlready) {
  Companions companions(kLease, 3, 2);
  EXPECT_TRUE(companions.joins(kLease, 3));
  EXPECT_FALSE(companions.joins(kLease, 3));
}

}  // namespace festa::test
