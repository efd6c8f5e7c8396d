#include "app/lab/race/race_verdict.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

RaceWish wishFor(RaceSubject subject) {
  RaceWish wish;
  wish.subject = subject;
  return wish;
}

bool isProtected(const std::string& strategy, const RaceWish& wish = wishFor(RaceSubject::kPins),
                 std::size_t instances = 1) {
  return protects(*findStrategy(strategy), wish, instances);
}

}  // namespace

TEST(RaceVerdict, RulesThatAreKeptWithoutProtectionAreLuck) {
  EXPECT_EQ(verdictOf(true, true), RaceVerdict::kHeld);
  EXPECT_EQ(verdictOf(true, false), RaceVerdict::kLucky);
  EXPECT_EQ(verdictOf(false, true), RaceVerdict::kBroken);
  EXPECT_EQ(verdictOf(false, false), RaceVerdict::kBroken);
  EXPECT_STREQ(nameOf(RaceVerdict::kHeld), "held");
  EXPECT_STREQ(nameOf(RaceVerdict::kLucky), "lucky");
  EXPECT_STREQ(nameOf(RaceVerdict::kBroken), "broken");
}

TEST(RaceVerdict, ControlsDoNotProtect) {
  for (const auto subject : {RaceSubject::kPins, RaceSubject::kHotSeat, RaceSubject::kOpeningSecond,
                             RaceSubject::kCoupon})
    EXPECT_FALSE(isProtected("none", wishFor(subject))) << nameOf(subject);
  EXPECT_FALSE(isProtected("pg-repeatable-read"));
}

TEST(RaceVerdict, ARowThatIsReadAndUpdatedIsProtectedByRepeatableRead) {
  EXPECT_TRUE(isProtected("pg-repeatable-read", wishFor(RaceSubject::kHotSeat)));
  EXPECT_TRUE(isProtected("pg-repeatable-read", wishFor(RaceSubject::kCoupon), 3));
}

TEST(RaceVerdict, EveryOtherStrategyProtectsWithinItsReach) {
  for (const auto& row : strategyTable()) {
    if (row.labOnly) continue;
    EXPECT_TRUE(isProtected(row.name)) << row.name;
    EXPECT_EQ(isProtected(row.name, wishFor(RaceSubject::kPins), 3), row.acrossProcesses)
        << row.name;
  }
  EXPECT_FALSE(isProtected("memory", wishFor(RaceSubject::kPins), 2));
}

TEST(RaceVerdict, ALockThatIsReleasedBeforeCommitDoesNotProtect) {
  auto wish = wishFor(RaceSubject::kPins);
  wish.releasesBeforeCommit = true;
  EXPECT_FALSE(isProtected("memory", wish));
  EXPECT_FALSE(isProtected("redis-fair", wish));
  EXPECT_TRUE(isProtected("pg-row", wish)) << "it has no lock that could be released";
}

TEST(RaceVerdict, TheBackstopProtectsAlone) {
  auto wish = wishFor(RaceSubject::kPins);
  wish.backstop = true;
  EXPECT_TRUE(isProtected("none", wish, 3));
  wish.releasesBeforeCommit = true;
  EXPECT_TRUE(isProtected("memory", wish, 3));
}

}  // namespace festa::test
