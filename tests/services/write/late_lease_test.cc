// Leases that are over when they reach the request that asked for them.
#include "lock/memory/memory_lock_storage.h"
#include "tests/services/middleware_fixture.h"

#include <gmock/gmock.h>

namespace festa::test {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
using lock::Lease;
using lock::LockOutcome;
using lock::Millis;
using lock::SteadyClock;
using testing::Each;
using testing::ElementsAre;
using testing::Le;

// Grants every request; the first `late` leases are over when they arrive, each after a pause.
class LateStorage : public lock::LockStorage {
 public:
  explicit LateStorage(int late, Millis pause = Millis{1}) : late_(late), pause_(pause) {}

  drogon::Task<std::optional<Lease>> tryLock(lock::LockRequest request) override {
    waits.push_back(request.wait);
    const auto number = static_cast<int>(waits.size());
    Lease lease{request.key, "owner-" + std::to_string(number), number};
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(),
                               std::chrono::duration<double>(pause_).count());
    lease.validUntil = SteadyClock::now() + (number > late_ ? Millis{60'000} : Millis{0});
    co_return lease;
  }
  drogon::Task<bool> extend(Lease&, lock::Extension) override { co_return true; }
  drogon::Task<lock::Unlocked> unlock(Lease lease) override {
    unlocked.push_back(lease.owner);
    co_return lock::Unlocked::kReleased;
  }
  void close() override {}

  // Read when no request is under way.
  std::vector<Millis> waits;
  std::vector<std::string> unlocked;

 private:
  const int late_;
  const Millis pause_;
};

class LateLease : public MiddlewareFixture {
 protected:
  // Says with which fence it ran, and whether its lease was over.
  Handler handler() {
    return [this](HttpRequestPtr request) {
      const auto hold = lock::holdOf(request);
      fences_.push_back(*hold->fence());
      if (SteadyClock::now() >= hold->validUntil()) ++ranTooLate_;
      return ok(request);
    };
  }
  std::shared_ptr<LateStorage> useLate(int late, Millis pause = Millis{1}) {
    auto storage = std::make_shared<LateStorage>(late, pause);
    storage_ = storage;
    return storage;
  }

  std::vector<std::int64_t> fences_;
  std::atomic<int> ranTooLate_{0};
};

}  // namespace

TEST_F(LateLease, IsUnlockedByItsOwnerAndTheRequestAsksAgain) {
  const auto storage = useLate(2);
  EXPECT_EQ(finish(start(make(lockable_), handler()))->statusCode(), drogon::k200OK);
  EXPECT_THAT(fences_, ElementsAre(3));
  EXPECT_EQ(ranTooLate_, 0);
  EXPECT_THAT(storage->unlocked, ElementsAre("owner-1", "owner-2", "owner-3"));
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
}

TEST_F(LateLease, WaitCountsFromTheFirstAsk) {
  const auto storage = useLate(3, Millis{20});
  finish(start(make(lockable_), handler()));
  ASSERT_EQ(storage->waits.size(), 4U);
  EXPECT_EQ(storage->waits[0], lockable_.wait);
  EXPECT_LE(storage->waits[1], lockable_.wait - Millis{20});
  EXPECT_LE(storage->waits[2], lockable_.wait - Millis{40});
  EXPECT_LE(storage->waits[3], lockable_.wait - Millis{60});
}

TEST_F(LateLease, RequestWhoseWaitIsOverTimesOut) {
  const auto storage = useLate(1000, Millis{20});
  auto lockable = lockable_;
  lockable.wait = Millis{50};
  EXPECT_EQ(finish(start(make(lockable), handler()))->statusCode(), drogon::k503ServiceUnavailable);
  EXPECT_TRUE(fences_.empty());
  EXPECT_EQ(refused_, (std::vector{LockOutcome::kTimedOut}));
  EXPECT_THAT(storage->waits, Each(Le(Millis{50})));
  EXPECT_EQ(storage->unlocked.size(), storage->waits.size());
}

TEST_F(LateLease, FailFastLockAsksOnceMore) {
  const auto storage = useLate(1);
  auto lockable = lockable_;
  lockable.failFast = true;
  EXPECT_EQ(finish(start(make(lockable), handler()))->statusCode(), drogon::k200OK);
  EXPECT_THAT(fences_, ElementsAre(2));
  EXPECT_THAT(storage->waits, ElementsAre(Millis{0}, Millis{0}));
}

TEST_F(LateLease, FailFastLockIsBusyAfterTwoOfThem) {
  const auto storage = useLate(1000);
  auto lockable = lockable_;
  lockable.failFast = true;
  EXPECT_EQ(finish(start(make(lockable), handler()))->statusCode(), drogon::k503ServiceUnavailable);
  EXPECT_TRUE(fences_.empty());
  EXPECT_EQ(refused_, (std::vector{LockOutcome::kBusy}));
  EXPECT_THAT(storage->unlocked, ElementsAre("owner-1", "owner-2"));
}

// The grant waits in the queue of the request's loop until its lease is over; by then the key is
// another one's.
TEST_F(LateLease, OfABlockedLoopIsNotGivenToTheHandlerWhileAnotherHoldsTheKey) {
  const auto memory = lock::MemoryLockStorage::create(1, timers_.at());
  storage_ = memory;
  auto lockable = lockable_;
  lockable.lease = Millis{100};
  lockable.wait = Millis{15'000};
  const auto take = [&](Millis lease) {
    const lock::LockRequest request{"k:1", Millis{15'000}, lease};
    return runOn(timers_.at(), [&] { return memory->tryLock(request); }).value();
  };
  const auto giveBack = [&](const Lease& lease) {
    return runOn(timers_.at(), [&] { return memory->unlock(lease.clone()); });
  };
  const auto before = take(Millis{60'000});
  auto answer = start(make(lockable), handler());
  ASSERT_TRUE(eventually([&] { return memory->waiters() == 1; }));
  std::promise<void> isBlocked;
  std::promise<void> goOn;
  loops_.at()->queueInLoop([&] {
    isBlocked.set_value();
    goOn.get_future().wait();
  });
  isBlocked.get_future().wait();
  giveBack(before);
  ASSERT_TRUE(eventually([&] { return memory->waiters() == 0; })) << "it is not granted the key";
  const auto rival = take(Millis{60'000});  // when the lease of the request is over
  goOn.set_value();
  EXPECT_TRUE(eventually([&] { return memory->waiters() == 1; })) << "it does not wait again";
  EXPECT_TRUE(fences_.empty());
  giveBack(rival);
  EXPECT_EQ(finish(std::move(answer))->statusCode(), drogon::k200OK);
  ASSERT_EQ(fences_.size(), 1U);
  EXPECT_GT(fences_[0], rival.fence);
  EXPECT_EQ(ranTooLate_, 0);
}

}  // namespace festa::test
