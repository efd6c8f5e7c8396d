#include "app/lab/race/race_findings.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

// A winner of `won` whose transaction ran from `begun` to `ended`.
RaceLane winner(const std::string& won, std::int64_t begun, std::int64_t ended) {
  RaceLane lane;
  lane.status = 201;
  lane.won = won;
  lane.sent = 1;
  lane.answered = ended + 1;
  lane.server.instance = "a:1";
  lane.server.begun = begun;
  lane.server.ended = ended;
  return lane;
}

RaceLane granted(std::int64_t asked, std::int64_t at, const std::string& place = "") {
  RaceLane lane;
  lane.status = 409;
  lane.code = "PINNED_LIMIT_EXCEEDED";
  lane.place = place;
  lane.server.asked = asked;
  lane.server.received = asked;
  lane.server.granted = at;
  lane.server.released = at + 5;
  lane.server.fence = at;
  return lane;
}

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

TEST(RaceScore, TheFourthPinIsOneTooMany) {
  RaceScore score(3, 3);
  for (int i = 0; i < 3; ++i) score.add(winner("", 1, 2));
  EXPECT_EQ(score.tooMany(), 0);
  score.add(winner("", 1, 2));
  EXPECT_EQ(score.accepted(), 4);
  EXPECT_EQ(score.tooMany(), 1);
}

TEST(RaceScore, ASecondOwnerOfOneSeatIsOneTooManyThoughOthersAreFree) {
  RaceScore score(1, 10);
  score.add(winner("A-1", 1, 2));
  score.add(winner("A-2", 1, 2));
  EXPECT_EQ(score.tooMany(), 0);
  score.add(winner("A-1", 1, 2));
  EXPECT_EQ(score.tooMany(), 1);
}

TEST(RaceScore, DifferentNumbersBeyondTheStockAreTooMany) {
  RaceScore score(1, 2);
  for (const auto* number : {"#1", "#2", "#3", "#4"}) score.add(winner(number, 1, 2));
  EXPECT_EQ(score.tooMany(), 2);
}

TEST(RaceScore, RefusalsDoNotCount) {
  RaceScore score(1, 1);
  for (int i = 0; i < 5; ++i) score.add(granted(1, 2));
  EXPECT_EQ(score.accepted(), 0);
  EXPECT_EQ(score.tooMany(), 0);
}

TEST(RaceFindings, PercentilesAreNearestRanks) {
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 100; i > 0; --i) hundred.push_back(i);
  const auto found = percentilesOf(hundred);
  EXPECT_EQ(found.count, 100);
  EXPECT_EQ(found.p50, 50);
  EXPECT_EQ(found.p90, 90);
  EXPECT_EQ(found.p99, 99);
  EXPECT_EQ(found.most, 100);
  EXPECT_EQ(percentilesOf({7}).p99, 7);
  EXPECT_EQ(percentilesOf({}).count, 0);
}

TEST(RaceFindings, TheWinnerTooManyIsShownWithOneThatRanAtTheSameTime) {
  // The third commits while the fourth runs; the first two were over before it began.
  const std::vector<RaceLane> lanes{winner("", 100, 200), winner("", 10, 20), winner("", 30, 40),
                                    winner("", 150, 250)};
  const auto found = findingsOf(lanes, 3);
  ASSERT_EQ(found.overlaps.size(), 1U);
  EXPECT_EQ(found.overlaps[0].first, 0U);
  EXPECT_EQ(found.overlaps[0].second, 3U);
  EXPECT_EQ(found.overlaps[0].from, 150);
  EXPECT_EQ(found.overlaps[0].to, 200);
}

TEST(RaceFindings, TheLongestOverlapIsShown) {
  const auto found = findingsOf({winner("", 1, 10), winner("", 2, 30), winner("", 5, 40)}, 1);
  ASSERT_EQ(found.overlaps.size(), 2U);
  EXPECT_EQ(found.overlaps[0].first, 1U);
  EXPECT_EQ(found.overlaps[0].second, 2U);
  EXPECT_EQ(found.overlaps[0].to - found.overlaps[0].from, 25);
}

TEST(RaceFindings, WinnersOfDifferentPrizesMayOverlap) {
  EXPECT_TRUE(findingsOf({winner("A-1", 1, 9), winner("A-2", 1, 9)}, 1).overlaps.empty());
  EXPECT_EQ(findingsOf({winner("A-1", 1, 9), winner("A-1", 2, 8)}, 1).overlaps.size(), 1U);
}

TEST(RaceFindings, AtMostAFewOverlapsAreKept) {
  const std::vector<RaceLane> lanes(100, winner("", 1, 9));
  EXPECT_EQ(findingsOf(lanes, 1).overlaps.size(), kMostOverlaps);
}

TEST(RaceFindings, AGrantBeforeAnEarlierAskerIsAnOvertaking) {
  const auto fair = findingsOf({granted(1, 10), granted(2, 20), granted(3, 30)}, 1).order;
  EXPECT_EQ(fair.granted, 3);
  EXPECT_EQ(fair.overtaken, 0);
  const auto unfair = findingsOf({granted(1, 30), granted(2, 20), granted(3, 10)}, 1).order;
  EXPECT_EQ(unfair.overtaken, 2);
  const auto apart = findingsOf({granted(2, 10, "A-1"), granted(1, 20, "A-2")}, 1).order;
  EXPECT_EQ(apart.overtaken, 0) << "they asked for different seats";
}

TEST(RaceFindings, TheOrderIsThatOfFencesAndOnlyAmongThoseThatWereNotUnderWayTogether) {
  auto early = granted(1, 10);
  auto late = granted(5, 20);
  // A holder that learns late of its grant was not overtaken.
  std::swap(early.server.granted, late.server.granted);
  EXPECT_EQ(findingsOf({early, late}, 1).order.overtaken, 0);
  std::swap(early.server.fence, late.server.fence);
  EXPECT_EQ(findingsOf({early, late}, 1).order.overtaken, 1);
  // The other had asked before the storage had this one.
  early.server.received = late.server.asked;
  EXPECT_EQ(findingsOf({early, late}, 1).order.overtaken, 0);
}

TEST(RaceFindings, InstancesWithStoragesOfTheirOwnDoNotOvertakeEachOther) {
  auto early = granted(1, 30);
  auto late = granted(5, 20);
  early.server.instance = "a:1";
  late.server.instance = "b:1";
  EXPECT_EQ(findingsOf({early, late}, 1, RaceStorage::kShared).order.overtaken, 1);
  EXPECT_EQ(findingsOf({early, late}, 1, RaceStorage::kPerInstance).order.overtaken, 0);
  late.server.instance = "a:1";
  EXPECT_EQ(findingsOf({early, late}, 1, RaceStorage::kPerInstance).order.overtaken, 1);
}

TEST(RaceFindings, AnswersAndInstancesAreCounted) {
  const auto found = findingsOf({winner("", 1, 2), winner("", 1, 2), granted(1, 2)}, 3);
  EXPECT_EQ(found.answers.at({201, ""}), 2);
  EXPECT_EQ(found.answers.at({409, "PINNED_LIMIT_EXCEEDED"}), 1);
  EXPECT_EQ(found.instances.at("a:1"), 2);
  EXPECT_EQ(found.wait.count, 1);
  EXPECT_EQ(found.hold.p50, 5);
}

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
