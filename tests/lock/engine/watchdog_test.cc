#include "lock/engine/watchdog.h"

#include "lock/memory/memory_lock_storage.h"
#include "tests/support/lock/middleware.h"
#include "tests/support/lock/paced_storage.h"

#include <atomic>

namespace festa::test {

namespace {

using lock::LockOutcome;
using lock::Millis;
using lock::RenewalOutcome;
using lock::SteadyClock;

class WatchdogTest : public WithMiddleware<LoopFixture> {
 protected:
  WatchdogTest() { storage_ = paced_; }

  lock::Lockable lasting(Millis lease, Millis maxHold) const {
    auto lockable = lockable_;
    lockable.lease = lease;
    lockable.maxHold = maxHold;
    return lockable;
  }

  // Another owner asks for the key; at once or not at all.
  std::optional<lock::Lease> tryTake() {
    return runOn(timers_.at(), [this] {
      return memory_->tryLock({.key = "k:1", .wait = Millis{0}, .lease = Millis{30'000}});
    });
  }
  // The same for good: what becomes of the key when its holder has lost it.
  bool takeOver() {
    if (!successor_) successor_ = tryTake();
    return successor_.has_value();
  }
  bool isTaken() {
    const auto lease = tryTake();
    if (!lease) return true;
    runOn(timers_.at(), [&] { return memory_->unlock(lease->clone()); });
    return false;
  }

  // Everything that was to happen on the request's loop within this time has happened.
  void letPass(Millis time) {
    runOn(loops_.at(), [this, time] { return sleepOn(loops_.at(), time); });
  }
  static drogon::Task<> sleepOn(trantor::EventLoop* loop, Millis time) {
    co_await drogon::sleepCoro(loop, std::chrono::duration<double>(time).count());
  }

  // Works until the condition is true and then looks at its hold, as a transaction does before
  // COMMIT. 200, or "lost" in the body.
  Handler workUntil(std::function<bool()> condition) {
    return [this, condition = std::move(condition)](HttpRequestPtr request) {
      return work(request, condition);
    };
  }
  drogon::Task<HttpResponsePtr> work(HttpRequestPtr request, std::function<bool()> condition) {
    auto* const hold = lock::holdOf(request);
    hold_ = hold->shared_from_this();
    co_await waitFor(condition);
    auto response = drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
    if (SteadyClock::now() >= hold->validUntil()) {
      response->setStatusCode(drogon::k503ServiceUnavailable);
      response->setBody("lost");
    }
    co_return response;
  }

  long renewals(RenewalOutcome outcome) const { return recorder_->renewals(outcome); }

  const std::shared_ptr<lock::MemoryLockStorage> memory_ =
      lock::MemoryLockStorage::create(1, timers_.at());
  const std::shared_ptr<PacedStorage> paced_ = std::make_shared<PacedStorage>(memory_);
  std::optional<lock::Lease> successor_;
  std::shared_ptr<lock::LockHold> hold_;  // of the last request that worked
};

void expectLost(const drogon::HttpResponsePtr& response) {
  EXPECT_EQ(response->statusCode(), drogon::k503ServiceUnavailable);
  EXPECT_EQ(response->body(), "lost");
}

// The order of: E, the effect of an extension; A, its answer; U, the unlock; R, another's grant.
class RenewalRace : public WatchdogTest, public testing::WithParamInterface<std::string> {};

}  // namespace

TEST_F(WatchdogTest, AHandlerLongerThanItsLeaseKeepsItsKey) {
  const auto middleware = make(lasting(Millis{3000}, Millis{60'000}));
  const auto started = SteadyClock::now();
  auto answer = start(middleware, workUntil([this, started] {
                        return renewals(RenewalOutcome::kRenewed) >= 3 &&
                               SteadyClock::now() > started + Millis{3300};
                      }));
  ASSERT_TRUE(eventually([&] { return paced_->asked > 0; }));
  while (answer.wait_for(Millis{5}) != std::future_status::ready)
    EXPECT_TRUE(isTaken() || paced_->unlocked) << "the key was free while the handler ran";
  EXPECT_EQ(finish(std::move(answer))->statusCode(), drogon::k200OK);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
}

TEST_F(WatchdogTest, WithoutALongestHoldItLosesItsKey) {
  auto answer =
      start(make(lasting(Millis{100}, Millis{0})), workUntil([this] { return takeOver(); }));
  expectLost(finish(std::move(answer)));
  EXPECT_TRUE(successor_);
  EXPECT_EQ(paced_->asked, 0);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kLost}));
}

TEST_F(WatchdogTest, TheLongestHoldEndsIt) {
  const Millis longest{4500};
  const auto before = SteadyClock::now();
  auto answer =
      start(make(lasting(Millis{3000}, longest)), workUntil([this] { return takeOver(); }));
  expectLost(finish(std::move(answer)));
  ASSERT_TRUE(successor_);
  EXPECT_GE(renewals(RenewalOutcome::kRenewed), 1);
  EXPECT_GT(SteadyClock::now(), before + longest - Millis{20});
  EXPECT_EQ(renewals(RenewalOutcome::kLost), 0) << "nothing was lost: the time was up";
}

TEST_F(WatchdogTest, ALostRenewalEndsTheHoldAtOnce) {
  paced_->saysLost = true;
  const auto started = SteadyClock::now();
  auto answer = start(make(lasting(Millis{6000}, Millis{60'000})),
                      workUntil([this] { return renewals(RenewalOutcome::kLost) == 1; }));
  expectLost(finish(std::move(answer)));
  EXPECT_LT(SteadyClock::now(), started + Millis{5900}) << "the first lease was over anyway";
  EXPECT_LT(hold_->validUntil(), SteadyClock::now());
  EXPECT_GT(recorder_->lastHold(), Millis{0});
  EXPECT_LE(recorder_->lastHold(), SteadyClock::now() - started);
}

TEST_F(WatchdogTest, AStorageThatComesBackBeforeTheLeaseEndsKeepsTheHold) {
  paced_->broken = true;
  auto answer = start(make(lasting(Millis{4500}, Millis{60'000})), workUntil([this] {
                        if (renewals(RenewalOutcome::kFailed) >= 3) paced_->broken = false;
                        return renewals(RenewalOutcome::kRenewed) >= 1;
                      }));
  EXPECT_EQ(finish(std::move(answer))->statusCode(), drogon::k200OK);
  EXPECT_GE(renewals(RenewalOutcome::kFailed), 3);
  EXPECT_EQ(renewals(RenewalOutcome::kLost), 0);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
}

TEST_F(WatchdogTest, AStorageThatStaysAwayUntilTheLeaseEndsLosesTheHoldForEver) {
  const Millis lease{3000};
  paced_->broken = true;
  int askedWhenLost = 0;
  auto answer = start(make(lasting(lease, Millis{60'000})), workUntil([&] {
                        if (renewals(RenewalOutcome::kLost) == 0) return false;
                        askedWhenLost = paced_->asked;
                        paced_->broken = false;
                        return true;
                      }));
  expectLost(finish(std::move(answer)));
  EXPECT_GE(renewals(RenewalOutcome::kFailed), 1);
  letPass(lease);
  EXPECT_EQ(paced_->asked, askedWhenLost);
  EXPECT_EQ(renewals(RenewalOutcome::kRenewed), 0);
}

TEST_F(WatchdogTest, AnAnswerAfterTheEndOfTheLeaseIsTooLate) {
  paced_->answerMayCome = false;
  auto answer = start(make(lasting(Millis{200}, Millis{60'000})), workUntil([this] {
                        if (SteadyClock::now() < hold_->validUntil()) return false;
                        paced_->answerMayCome = true;
                        return renewals(RenewalOutcome::kLost) == 1;
                      }));
  expectLost(finish(std::move(answer)));
  EXPECT_EQ(renewals(RenewalOutcome::kRenewed), 0);
}

TEST_F(WatchdogTest, AHoldLeftToExpireIsNotRenewed) {
  int askedWhenLeft = 0;
  const Handler leave = [&](HttpRequestPtr request) -> drogon::Task<HttpResponsePtr> {
    const std::function<bool()> renewed = [&] { return renewals(RenewalOutcome::kRenewed) >= 1; };
    co_await waitFor(renewed);
    lock::holdOf(request)->leaveToExpire();
    askedWhenLeft = paced_->asked;
    const std::function<bool()> over = [&] { return takeOver(); };
    co_await waitFor(over);
    co_return co_await ok(request);
  };
  finish(start(make(lasting(Millis{900}, Millis{60'000})), leave));
  EXPECT_TRUE(successor_) << "the hold did not end with its lease";
  EXPECT_EQ(paced_->asked, askedWhenLeft);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kLeftToExpire}));
}

TEST_F(WatchdogTest, AFenceMayBeRenewedWhileALeaseIsBeingRenewed) {
  paced_->answerMayCome = false;
  std::optional<std::int64_t> renewed;
  const Handler both = [&](HttpRequestPtr request) -> drogon::Task<HttpResponsePtr> {
    const auto hold = lock::holdOf(request);
    const auto fence = hold->fence().value();
    const auto validUntil = hold->validUntil();
    const std::function<bool()> asked = [&] { return paced_->asked >= 1; };
    co_await waitFor(asked);
    paced_->answerMayCome = true;
    renewed = co_await hold->renewFence(fence + 10);
    const std::function<bool()> isLater = [&] { return renewals(RenewalOutcome::kRenewed) >= 1; };
    co_await waitFor(isLater);
    EXPECT_EQ(hold->fence(), fence + 11);
    EXPECT_GT(hold->validUntil(), validUntil);
    co_return co_await ok(request);
  };
  finish(start(make(lasting(Millis{1500}, Millis{60'000})), both));
  EXPECT_TRUE(renewed);
}

TEST_P(RenewalRace, NeverRenewsAfterUnlockNorAnothersHold) {
  const Millis lease{1800};
  paced_->effectMayHappen = false;
  paced_->answerMayCome = false;
  std::atomic<bool> handlerMayEnd{false};
  std::optional<lock::Lease> another;
  auto answer =
      start(make(lasting(lease, Millis{60'000})), workUntil([&] { return handlerMayEnd.load(); }));
  ASSERT_TRUE(eventually([&] { return paced_->asked == 1; }));
  std::optional<lock::SteadyTime> validAtUnlock;
  for (const char event : GetParam()) {
    switch (event) {
      case 'E':
        paced_->effectMayHappen = true;
        ASSERT_TRUE(eventually([&] { return paced_->extendedOnes + paced_->refusedOnes >= 1; }));
        EXPECT_EQ(paced_->refusedOnes, validAtUnlock ? 1 : 0);
        break;
      case 'A':
        paced_->answerMayCome = true;
        ASSERT_TRUE(eventually([&] { return paced_->answered >= 1; }));
        break;
      case 'U':
        handlerMayEnd = true;
        EXPECT_EQ(finish(std::move(answer))->statusCode(), drogon::k200OK);
        validAtUnlock = hold_->validUntil();
        break;
      default:
        another = tryTake();
        ASSERT_TRUE(another) << "the unlock waited for the renewal, or was undone by it";
    }
  }
  letPass(lease / 2);  // the next renewal would have come by then
  EXPECT_EQ(paced_->askedAfterUnlock, 0);
  EXPECT_EQ(hold_->validUntil(), validAtUnlock);
  EXPECT_EQ(runOn(timers_.at(), [&] { return memory_->unlock(another->clone()); }),
            lock::Unlocked::kReleased);
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
}

INSTANTIATE_TEST_SUITE_P(EveryOrder, RenewalRace,
                         testing::Values("EAUR", "EUAR", "EURA", "UEAR", "UERA", "UREA"),
                         [](const auto& order) { return order.param; });

}  // namespace festa::test
