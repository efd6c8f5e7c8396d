#include "lock/redis/line/offers_made.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::Millis;
using lock::OffersMade;
using lock::SteadyTime;

constexpr SteadyTime kStart{std::chrono::hours(1)};
constexpr Millis kPatience = lock::kOfferTime + lock::kLookMargin;

}  // namespace

TEST(OffersMade, AnOfferIsLookedAtWhenItsTimeIsOver) {
  OffersMade offers;
  offers.offered("k", lock::kOfferTime, kStart);
  EXPECT_FALSE(offers.takeDue(kStart + kPatience - Millis{1}));
  EXPECT_EQ(offers.takeDue(kStart + kPatience), "k");
  EXPECT_FALSE(offers.nextAt()) << "one look at a time";
  offers.looked("k", false, kStart + kPatience);
  EXPECT_FALSE(offers.nextAt());
}

TEST(OffersMade, AKeyThatIsOfferedAgainIsLookedAtAgain) {
  OffersMade offers;
  offers.offered("k", lock::kOfferTime, kStart);
  const auto again = kStart + Millis{300};
  offers.offered("k", lock::kOfferTime, again);
  EXPECT_EQ(offers.nextAt(), kStart + kPatience);
  ASSERT_EQ(offers.takeDue(kStart + kPatience), "k");
  offers.looked("k", false, kStart + kPatience);
  EXPECT_EQ(offers.nextAt(), again + kPatience);
}

TEST(OffersMade, AnOfferAfterALongerGrantIsLookedAtWhenItEnds) {
  OffersMade offers;
  offers.offered("k", lock::kLongestReadyLease, kStart);
  offers.offered("k", lock::kOfferTime, kStart);
  EXPECT_EQ(offers.nextAt(), kStart + kPatience);
}

TEST(OffersMade, WhileALookIsUnderWayNoOtherBegins) {
  OffersMade offers;
  offers.offered("k", lock::kOfferTime, kStart);
  ASSERT_TRUE(offers.takeDue(kStart + kPatience));
  offers.offered("k", lock::kOfferTime, kStart + kPatience);
  EXPECT_FALSE(offers.nextAt());
}

TEST(OffersMade, AnUnfinishedLookIsRepeatedAtOnce) {
  OffersMade offers;
  offers.offered("k", lock::kOfferTime, kStart);
  ASSERT_TRUE(offers.takeDue(kStart + kPatience));
  offers.looked("k", true, kStart + kPatience);
  EXPECT_EQ(offers.nextAt(), kStart + kPatience);
}

TEST(OffersMade, ALostLookIsRepeatedLater) {
  OffersMade offers;
  offers.offered("k", lock::kOfferTime, kStart);
  ASSERT_TRUE(offers.takeDue(kStart + kPatience));
  offers.lost("k", kStart + kPatience);
  EXPECT_EQ(offers.nextAt(), kStart + kPatience + OffersMade::kAgainAfterLoss);
}

TEST(OffersMade, WhatIsClearedIsForgotten) {
  OffersMade offers;
  offers.offered("k", lock::kOfferTime, kStart);
  offers.clear();
  offers.lost("k", kStart);
  offers.looked("k", true, kStart);
  EXPECT_FALSE(offers.nextAt());
}

}  // namespace festa::test
