#include "lock/lock_hold.h"

#include "lock/memory/memory_lock_storage.h"
#include "tests/support/loops.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using lock::Millis;
using lock::RenewalOutcome;

class LockHoldTest : public testing::Test {
 protected:
  std::shared_ptr<lock::LockHold> held(Millis lease = Millis{30'000}) {
    const lock::LockRequest request{"k", Millis{0}, lease};
    auto granted = runOn(loops_.at(), [&] { return storage_->tryLock(request); });
    auto hold = std::make_shared<lock::LockHold>("test", lock::Strategy{"memory", storage_.get()},
                                                 lock::LockKey("k"));
    hold->grant(std::move(granted).value());
    return hold;
  }
  bool isFree() {
    const lock::LockRequest request{"k", Millis{0}, Millis{30'000}};
    return runOn(loops_.at(), [&] { return storage_->tryLock(request); }).has_value();
  }

  const Loops loops_{3};
  const std::shared_ptr<lock::LockStorage> storage_ =
      lock::MemoryLockStorage::create(1, loops_.at());
};

// `memory` answers without suspending: without a pause between its answers a sanitizer build, which
// has no tail calls, would use up the stack.
drogon::Task<> pause() {
  co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0);
}

drogon::Task<int> renewAgainAndAgain(std::shared_ptr<lock::LockHold> hold) {
  int renewed = 0;
  while (true) {
    const auto outcome = co_await hold->renewLease(Millis{30'000});
    if (outcome != RenewalOutcome::kRenewed) co_return renewed;
    ++renewed;
    co_await pause();
  }
}

drogon::Task<int> raiseAgainAndAgain(std::shared_ptr<lock::LockHold> hold) {
  int raised = 0;
  for (std::int64_t last = hold->fence().value();; ++raised) {
    const auto fence = co_await hold->renewFence(last);
    if (!fence) co_return raised;
    EXPECT_GT(*fence, last);
    last = *fence;
    co_await pause();
  }
}

}  // namespace

// The watchdog renews on the request's loop; the handler may be on any other.
TEST_F(LockHoldTest, ItsLeaseAndFenceMayBeRenewedOnSeveralThreadsUntilItIsReleased) {
  const auto hold = held();
  const auto fence = hold->fence().value();
  const auto validUntil = hold->validUntil();
  auto renewals = startOn(loops_.at(1), [hold] { return renewAgainAndAgain(hold); });
  auto raises = startOn(loops_.at(2), [hold] { return raiseAgainAndAgain(hold); });
  ASSERT_TRUE(
      eventually([&] { return hold->fence() > fence + 50 && hold->validUntil() > validUntil; }));
  EXPECT_EQ(runOn(loops_.at(), [hold] { return hold->release(); }), lock::Unlocked::kReleased);
  EXPECT_GT(finish(std::move(renewals)), 0);
  EXPECT_GT(finish(std::move(raises)), 0);
  EXPECT_TRUE(isFree());
}

TEST_F(LockHoldTest, ItIsReleasedOnceByAllWhoRelease) {
  const auto hold = held();
  std::vector<std::future<lock::Unlocked>> releases;
  for (std::size_t i = 0; i < loops_.size(); ++i)
    releases.push_back(startOn(loops_.at(i), [hold] { return hold->release(); }));
  for (auto& release : releases) EXPECT_EQ(finish(std::move(release)), lock::Unlocked::kReleased);
  EXPECT_TRUE(isFree());
}

TEST_F(LockHoldTest, FinishedItIsFreeAndReleasedOnlyOnce) {
  const auto hold = held();
  runOn(loops_.at(), [hold]() -> drogon::Task<> {
    hold->finish();
    co_return;
  });
  const auto end = hold->reliedUntil();
  EXPECT_LE(end, lock::SteadyClock::now());
  EXPECT_TRUE(isFree());  // and another owner's from here on
  EXPECT_EQ(runOn(loops_.at(), [hold] { return hold->release(); }), lock::Unlocked::kReleased);
  EXPECT_FALSE(isFree());
  EXPECT_EQ(hold->reliedUntil(), end);
  EXPECT_EQ(runOn(loops_.at(), [hold] { return hold->renewFence(1); }), std::nullopt);
}

TEST_F(LockHoldTest, LeftToExpireItIsNotFinished) {
  const auto hold = held();
  hold->leaveToExpire();
  runOn(loops_.at(), [hold]() -> drogon::Task<> {
    hold->finish();
    co_return;
  });
  EXPECT_FALSE(isFree());
}

TEST_F(LockHoldTest, LeftToExpireWhileItIsRenewedItIsRenewedNoMore) {
  const auto hold = held();
  auto renewals = startOn(loops_.at(1), [hold] { return renewAgainAndAgain(hold); });
  const auto granted = hold->validUntil();
  ASSERT_TRUE(eventually([&] { return hold->validUntil() > granted; }));
  hold->leaveToExpire();
  EXPECT_GT(finish(std::move(renewals)), 0);
  EXPECT_TRUE(hold->leftToExpire());
  EXPECT_FALSE(isFree());
}

}  // namespace festa::test
