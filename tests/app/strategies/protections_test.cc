// How requests are protected as configured.
#include "tests/app/strategies/protections_fixture.h"

namespace festa::test {

TEST_F(ProtectionsTest, TheConfiguredStrategyIsUsed) {
  const auto memory = of(configured_);
  EXPECT_EQ(memory.lock.name, "memory");
  EXPECT_EQ(memory.lock.storage, &storage_);
  EXPECT_EQ(memory.inside, Guard::kNone);
  EXPECT_EQ(memory.queue, nullptr);
  const auto constraint = of(configured_, {}, "pg-constraint");
  EXPECT_EQ(constraint.lock.name, "pg-constraint");
  EXPECT_EQ(constraint.lock.storage, nullptr);
  EXPECT_EQ(constraint.inside, Guard::kConstraint);
}

TEST_F(ProtectionsTest, OutsideTheLabHeadersAreIgnored) {
  for (const auto* name : {"none", "pg-constraint", "nonsense"}) {
    const auto chosen = of(configured_, {{"X-Concurrency", name}, {"X-Backstop", "off"}});
    EXPECT_EQ(chosen.lock.name, "memory") << name;
    EXPECT_EQ(chosen.lock.storage, &storage_) << name;
  }
  EXPECT_EQ(of(configured_, {{"X-Backstop", "nonsense"}, {"X-Lab-Fault", "nonsense"}}).lock.name,
            "memory");
  const auto faulty =
      configured_.observe(request({{"X-Lab-Fault", "throw-before-commit"}}), *hold());
  EXPECT_FALSE(faulty->hasTestPoint());
}

TEST_F(ProtectionsTest, AHoldGivesItsFenceAndItsDeadline) {
  const auto held = hold();
  HeldLock seen(*held);
  const auto guard = configured_.guard(of(configured_), *held, seen);
  EXPECT_EQ(guard.key, "pins:1");
  EXPECT_EQ(guard.fence, kFence);
  EXPECT_EQ(guard.validUntil(), kValidUntil);
  held->grant(lock::Lease{"pins:1", "owner-1", kFence, kValidUntil + std::chrono::hours(1)});
  EXPECT_EQ(guard.validUntil(), kValidUntil + std::chrono::hours(1)) << "asked anew";
  // The storage of this test says that the hold is lost.
  drogon::sync_wait(guard.hold->renewFence(kFence));
  EXPECT_LT(guard.validUntil(), kValidUntil);
}

TEST_F(ProtectionsTest, AStrategyThatTakesNoLockHasNeitherFenceNorDeadline) {
  const auto held = hold("pg-constraint");
  HeldLock seen(*held);
  const auto guard = configured_.guard(of(configured_, {}, "pg-constraint"), *held, seen);
  EXPECT_EQ(guard.inside, Guard::kConstraint);
  EXPECT_EQ(guard.hold, nullptr);
  EXPECT_EQ(guard.fence, std::nullopt);
  EXPECT_EQ(guard.validUntil(), SteadyTime::max());
}

TEST_F(ProtectionsTest, AnUnknownCommitLeavesTheHoldToExpire) {
  const auto held = hold();
  HeldLock seen(*held);
  seen.leaveToExpire();
  EXPECT_TRUE(held->leftToExpire());
}

}  // namespace festa::test
