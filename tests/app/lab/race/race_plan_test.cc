#include "app/lab/race/race_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace festa::test {

namespace {

RacePlan planned(RaceSubject subject, std::int64_t people, std::uint64_t seed = 1) {
  RaceWish wish;
  wish.subject = subject;
  wish.people = people;
  wish.seed = seed;
  return planOf(wish);
}

bool same(const RacePlan& a, const RacePlan& b) {
  return std::equal(a.people.begin(), a.people.end(), b.people.begin(), b.people.end(),
                    [](const RacePerson& x, const RacePerson& y) {
                      return x.arrives == y.arrives && x.seat == y.seat;
                    });
}

}  // namespace

TEST(RacePlan, TheSameSeedGivesTheSameCrowd) {
  const auto plan = planned(RaceSubject::kOpeningSecond, 500, 7);
  EXPECT_TRUE(same(plan, planned(RaceSubject::kOpeningSecond, 500, 7)));
  EXPECT_FALSE(same(plan, planned(RaceSubject::kOpeningSecond, 500, 8)));
}

TEST(RacePlan, PeopleAreInTheOrderOfTheirArrivalWithinTheirTime) {
  for (const auto& name : raceSubjectNames()) {
    const auto subject = raceSubjectOf(name);
    const auto plan = planned(subject, kMostRacePeople);
    const auto& people = plan.people;
    ASSERT_EQ(people.size(), static_cast<std::size_t>(kMostRacePeople));
    EXPECT_TRUE(std::is_sorted(people.begin(), people.end(), [](const auto& a, const auto& b) {
      return a.arrives < b.arrives;
    })) << name;
    EXPECT_GE(people.front().arrives.count(), 0) << name;
    EXPECT_LE(people.back().arrives.count(), 1'000'000) << name;
    EXPECT_EQ(nameOf(subject), name);
  }
}

TEST(RacePlan, SeatsAreWithinTheHallAndTheFrontIsPopular) {
  const auto plan = planned(RaceSubject::kOpeningSecond, 1000);
  EXPECT_EQ(plan.prizes, 500);
  std::int64_t front = 0;
  for (const auto& person : plan.people) {
    ASSERT_GE(person.seat, 1);
    ASSERT_LE(person.seat, plan.prizes);
    front += person.seat <= plan.prizes / 4 ? 1 : 0;
  }
  EXPECT_GT(front, 400) << "a quarter of the seats has more than a quarter of the crowd";
  for (const auto& person : planned(RaceSubject::kHotSeat, 50).people) EXPECT_EQ(person.seat, 1);
}

TEST(RacePlan, ThereIsAlwaysAPrizeAndItsLimit) {
  EXPECT_EQ(planned(RaceSubject::kPins, 100).prizes, 3);
  EXPECT_EQ(planned(RaceSubject::kPins, 100).mostPerPrize, 3);
  EXPECT_EQ(planned(RaceSubject::kHotSeat, 100).prizes, 1);
  EXPECT_EQ(planned(RaceSubject::kCoupon, 2).prizes, 1);
  EXPECT_EQ(planned(RaceSubject::kCoupon, 2).mostPerPrize, 1);
}

}  // namespace festa::test
