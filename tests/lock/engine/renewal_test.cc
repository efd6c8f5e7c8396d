#include "lock/engine/watchdog.h"

#include <gtest/gtest.h>

namespace festa::test {

using lock::Millis;
using lock::Renewal;
using lock::SteadyTime;

namespace {

const SteadyTime kGranted{std::chrono::hours(1)};

SteadyTime at(int ms) {
  return kGranted + Millis{ms};
}

}  // namespace

TEST(Renewal, IsDueAThirdOfTheLeaseAfterTheGrantAndAfterEachRenewal) {
  Renewal renewal(Millis{300}, Millis{10'000}, kGranted);
  EXPECT_EQ(renewal.due(), at(100));
  EXPECT_EQ(renewal.leaseFrom(at(100)), Millis{300});
  renewal.renewed(at(104));
  EXPECT_EQ(renewal.due(), at(204));
}

TEST(Renewal, AFailedAttemptIsRepeatedSoonButNotAtOnce) {
  Renewal renewal(Millis{3000}, Millis{10'000}, kGranted);
  renewal.failed(at(1300));
  EXPECT_EQ(renewal.due(), at(1400));
  Renewal quick(Millis{6}, Millis{10'000}, kGranted);
  quick.failed(at(2));
  EXPECT_EQ(quick.due(), at(3)) << "it would spin";
}

TEST(Renewal, SeveralAttemptsFitIntoWhatIsLeftOfALease) {
  for (const int lease : {30, 300, 3000, 60'000}) {
    Renewal renewal(Millis{lease}, Millis{10 * lease}, kGranted);
    int attempts = 0;
    for (auto now = *renewal.due(); now < at(lease); now = *renewal.due()) {
      renewal.failed(now);
      ++attempts;
    }
    EXPECT_GE(attempts, 10) << lease;
  }
}

TEST(Renewal, AsksForNoMoreThanIsLeftOfTheLongestHoldAndThenStops) {
  Renewal renewal(Millis{300}, Millis{450}, kGranted);
  renewal.renewed(at(100));
  EXPECT_EQ(renewal.due(), at(200));
  EXPECT_EQ(renewal.leaseFrom(at(200)), Millis{250});
  renewal.renewed(at(200));
  EXPECT_EQ(renewal.due(), std::nullopt);
}

TEST(Renewal, WhatIsNoWholeMillisecondIsNotAskedForAgain) {
  Renewal renewal(Millis{300}, Millis{450}, kGranted);
  const auto asked = at(200) + std::chrono::microseconds(300);
  EXPECT_EQ(renewal.leaseFrom(asked), Millis{249});
  renewal.renewed(asked);
  EXPECT_EQ(renewal.due(), std::nullopt);
}

TEST(Renewal, ALongestHoldOfOneLeaseIsNeverRenewed) {
  const Renewal renewal(Millis{300}, Millis{300}, kGranted);
  EXPECT_EQ(renewal.due(), std::nullopt);
}

TEST(Renewal, PastTheLongestHoldNothingIsLeft) {
  const Renewal renewal(Millis{300}, Millis{450}, kGranted);
  EXPECT_EQ(renewal.leaseFrom(at(450)), Millis{0});
  EXPECT_LT(renewal.leaseFrom(at(460)), Millis{0});
}

}  // namespace festa::test
