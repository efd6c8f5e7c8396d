#include "lock/lock_filter.h"

#include "lock/memory/memory_lock_storage.h"
#include "tests/support/lock/middleware.h"

namespace festa::test {

namespace {

using lock::LockHold;
using lock::LockOutcome;
using lock::Millis;

class LockFilterTest : public LoopFixture {
 protected:
  template <class Work>
  auto run(Work work, Millis wait = Millis{0}) {
    return finish(start(std::move(work), wait));
  }
  template <class Work>
  auto start(Work work, Millis wait = Millis{0}) {
    auto filter = std::make_shared<lock::LockFilter>(
        lock::Lockable{.name = "test", .key = "k", .wait = wait}, board_, *recorder_);
    auto kept = std::make_shared<Work>(std::move(work));
    return startOn(loops_.at(), [this, filter, kept] {
      return filter->run(nullptr, {"memory", storage_.get()}, "k", *kept);
    });
  }
  bool isFree() {
    const lock::LockRequest request{"k", Millis{0}, Millis{30'000}};
    auto lease = runOn(loops_.at(), [&] { return storage_->tryLock(request); });
    if (lease) runOn(loops_.at(), [&] { return storage_->unlock(lease->clone()); });
    return lease.has_value();
  }

  std::shared_ptr<lock::LockStorage> storage_ = lock::MemoryLockStorage::create(1, loops_.at());
  lock::LockBoard board_{10};
  Recorder* const recorder_ = &keptForever(std::make_unique<Recorder>());  // see WithMiddleware
};

drogon::Task<int> fenceLow(LockHold& hold) {
  co_return static_cast<int>(*hold.fence() & 0xFF);
}

drogon::Task<int> fail(LockHold&) {
  throw 42;
  co_return 0;
}

}  // namespace

TEST_F(LockFilterTest, TheWorksValueIsReturnedAndTheKeyGivenBack) {
  EXPECT_EQ(std::get<int>(run(fenceLow)), 1);
  EXPECT_TRUE(isFree());
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
}

TEST_F(LockFilterTest, WhateverTheWorkThrowsTheKeyIsGivenBackAndItIsThrown) {
  EXPECT_THROW(run(fail), int);
  EXPECT_TRUE(isFree());
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
}

TEST_F(LockFilterTest, WorkThatDoesNotGetItsKeyIsNotRun) {
  std::promise<void> end;
  auto ended = end.get_future().share();
  std::promise<void> begun;
  auto holder = start([&](LockHold&) -> drogon::Task<int> {
    begun.set_value();
    while (ended.wait_for(Millis{0}) != std::future_status::ready)
      co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.001);
    co_return 7;
  });
  begun.get_future().wait();
  bool ran = false;
  const auto other = run([&](LockHold&) -> drogon::Task<int> {
    ran = true;
    co_return 8;
  });
  EXPECT_EQ(std::get<LockOutcome>(other), LockOutcome::kTimedOut);
  EXPECT_FALSE(ran);
  end.set_value();
  EXPECT_EQ(std::get<int>(finish(std::move(holder))), 7);
}

// The work goes on without the key, and the record says until when it had it.
TEST_F(LockFilterTest, WorkThatHasFinishedItsHoldKeepsNoOneWaiting) {
  lock::SteadyTime after;
  const auto value = run([&](LockHold& hold) -> drogon::Task<bool> {
    hold.finish();
    after = lock::SteadyClock::now();
    const lock::LockRequest request{"k", Millis{0}, Millis{30'000}};
    const auto next = co_await storage_->tryLock(request);
    if (next) co_await storage_->unlock(next->clone());
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.02);
    co_return next.has_value();
  });
  EXPECT_TRUE(std::get<bool>(value));
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kReleased}));
  EXPECT_LE(recorder_->lastEnd(), after);
}

TEST_F(LockFilterTest, AStrategyWithoutStorageRunsWithoutALease) {
  storage_ = nullptr;
  const auto value = run([](LockHold& hold) -> drogon::Task<bool> { co_return hold.isGranted(); });
  EXPECT_FALSE(std::get<bool>(value));
  EXPECT_EQ(recorder_->outcomes(), (std::vector{LockOutcome::kUnlocked}));
}

}  // namespace festa::test
