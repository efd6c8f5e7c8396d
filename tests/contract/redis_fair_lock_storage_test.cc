#include "lock/redis/line/redis_line.h"

#include "tests/contract/redis_line_test.h"

#include <thread>

namespace festa::test {

namespace {

using lock::Lease;
using lock::Millis;
using lock::RedisFairLockStorage;
using lock::SteadyClock;
using lock::Unlocked;

}  // namespace

// One process whose waiters stand next to each other in line.
class RedisFairRun : public testing::Test {
 protected:
  using Future = std::future<std::optional<Lease>>;

  Future start(Millis lease = Millis{30'000}) {
    const lock::LockRequest request{"k", Millis{30'000}, lease};
    return startOn(loops_.at(1),
                   [storage = storage_, request] { return storage->tryLock(request); });
  }
  // In line one after the other.
  std::vector<Future> stand(int count, Millis lease = Millis{30'000}) {
    std::vector<Future> waiting;
    for (int i = 0; i < count; ++i) {
      const auto before = places();
      waiting.push_back(start(lease));
      EXPECT_TRUE(eventually([&] { return places() == before + 1; }));
    }
    return waiting;
  }
  Unlocked giveBack(const Lease& lease) {
    return runOn(loops_.at(1), [&] { return storage_->unlock(lease.clone()); });
  }
  bool extend(Lease& lease, lock::Extension extension) {
    return runOn(loops_.at(1), [&] { return storage_->extend(lease, extension); });
  }
  // As another process sees it.
  bool isFree() {
    const lock::LockRequest request{"k", Millis{0}, Millis{30'000}};
    const auto lease = runOn(loops_.at(2), [&] { return other_->tryLock(request); });
    if (lease) runOn(loops_.at(2), [&] { return other_->unlock(lease->clone()); });
    return lease.has_value();
  }
  long places() const { return std::stol(redis_.command({"ZCARD", "test:fair:line:k"})); }
  // The process hears messages: what it looks for when it hears the first one is over.
  void settle() {
    ASSERT_TRUE(eventually([&] {
      return !redis_.command({"PUBSUB", "CHANNELS", "test:fair:wake:*"}).empty();
    }));
    const auto beats = redis_.calls("publish");
    ASSERT_TRUE(eventually([&] { return redis_.calls("publish") > beats; }));
    ASSERT_TRUE(eventually([&] {
      const auto before = redis_.calls("evalsha");
      std::this_thread::sleep_for(Millis{100});
      return redis_.calls("evalsha") == before;
    }));
  }

  Loops loops_{3};
  RedisServer redis_;
  const std::shared_ptr<RedisFairLockStorage> storage_ =
      ownStorage<RedisFairLockStorage>(loops_, redis_.port());
  const std::shared_ptr<RedisFairLockStorage> other_ =
      ownStorage<RedisFairLockStorage>(loops_, redis_.port());
};

TEST_F(RedisFairRun, IsInOrderWithGrowingFencesAndFewCommands) {
  auto lease = *finish(start());
  auto waiting = stand(24);
  redis_.command({"CONFIG", "RESETSTAT"});
  for (auto& next : waiting) {
    EXPECT_EQ(giveBack(lease), Unlocked::kReleased);
    const auto granted = finish(std::move(next));
    ASSERT_TRUE(granted);
    EXPECT_GT(granted->fence, lease.fence);
    EXPECT_NE(granted->owner, lease.owner);
    lease = granted->clone();
    EXPECT_FALSE(isFree());
  }
  // One leave for every eight, without those who look whether it is free.
  EXPECT_EQ(redis_.calls("zpopmin"), 3);
  EXPECT_EQ(giveBack(lease), Unlocked::kReleased);
  EXPECT_EQ(places(), 0);
  EXPECT_TRUE(isFree());
}

TEST_F(RedisFairRun, EndsWhenTheHoldIsNoLongerYoung) {
  constexpr Millis kLease{4000};
  auto lease = *finish(start(kLease));
  auto waiting = stand(3, kLease);
  giveBack(lease);
  lease = *finish(std::move(waiting[0]));
  const auto old = SteadyClock::now() + kLease / 8;
  ASSERT_TRUE(eventually([&] { return SteadyClock::now() > old; }));
  redis_.command({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(giveBack(lease), Unlocked::kReleased);
  lease = *finish(std::move(waiting[1]));
  EXPECT_EQ(redis_.calls("zpopmin"), 1);
  EXPECT_GT(lease.validUntil, old + kLease / 2);
  EXPECT_EQ(giveBack(lease), Unlocked::kReleased);
  EXPECT_TRUE(finish(std::move(waiting[2])));
}

TEST_F(RedisFairRun, EndsWhenAHoldIsProlongedAndLaterFencesAreAboveItsNewOne) {
  auto lease = *finish(start());
  auto waiting = stand(4);
  giveBack(lease);
  lease = *finish(std::move(waiting[0]));
  giveBack(lease);
  lease = *finish(std::move(waiting[1]));  // follows under the hold of the one before
  const auto validUntil = lease.validUntil;
  const auto fence = lease.fence;
  ASSERT_TRUE(extend(lease, {.lease = Millis{60'000}, .fenceAbove = fence}));
  EXPECT_GT(lease.validUntil, validUntil);
  EXPECT_GT(lease.fence, fence);
  EXPECT_FALSE(isFree());
  EXPECT_EQ(giveBack(lease), Unlocked::kReleased);
  const auto next = finish(std::move(waiting[2]));
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, lease.fence);
}

TEST_F(RedisFairRun, AHoldThatWentOnIsNotGivenBackASecondTime) {
  const auto first = *finish(start());
  auto waiting = stand(3);
  giveBack(first);
  const auto leader = *finish(std::move(waiting[0]));
  giveBack(leader);
  const auto follower = *finish(std::move(waiting[1]));
  EXPECT_EQ(giveBack(leader), Unlocked::kLost);
  auto past = leader.clone();
  EXPECT_FALSE(extend(past, {.lease = Millis{1}, .fenceAbove = leader.fence}));
  EXPECT_FALSE(isFree());
  EXPECT_EQ(giveBack(follower), Unlocked::kReleased);
  EXPECT_TRUE(finish(std::move(waiting[2])));
}

TEST_F(RedisFairRun, AFollowerWhoseServerHasForgottenTheHoldLearnsIt) {
  const auto first = *finish(start());
  auto waiting = stand(2);
  // A look that is still under way would give the forgotten key to the follower's place again.
  settle();
  giveBack(first);
  giveBack(*finish(std::move(waiting[0])));
  const auto follower = *finish(std::move(waiting[1]));
  redis_.command({"DEL", "test:fair:hold:k"});
  EXPECT_EQ(giveBack(follower), Unlocked::kLost);
  EXPECT_EQ(places(), 0);
  EXPECT_TRUE(isFree());
}

// Only neighbours in the line of all processes hold the key together.
TEST_F(RedisFairRun, AWaiterOfAnotherProcessIsNotPassedByThoseWhoHoldTogether) {
  const auto held = *finish(start());
  const auto standOn = [&](const std::shared_ptr<RedisFairLockStorage>& on) {
    const auto before = places();
    const lock::LockRequest request{"k", Millis{30'000}, Millis{30'000}, 8};
    auto one = startOn(loops_.at(1), [on, request] { return on->tryLock(request); });
    EXPECT_TRUE(eventually([&] { return places() == before + 1; }));
    return one;
  };
  auto first = standOn(storage_);
  auto second = standOn(storage_);
  auto foreign = standOn(other_);
  auto third = standOn(storage_);
  giveBack(held);
  const auto a = *finish(std::move(first));
  const auto b = *finish(std::move(second));
  ASSERT_TRUE(a.company);
  EXPECT_EQ(a.company, b.company);
  EXPECT_EQ(a.company->size(), 2U);
  giveBack(a);
  EXPECT_EQ(foreign.wait_for(Millis{30}), std::future_status::timeout);
  giveBack(b);
  const auto c = *finish(std::move(foreign));
  EXPECT_GT(c.fence, b.fence);
  EXPECT_EQ(third.wait_for(Millis{30}), std::future_status::timeout);
  EXPECT_EQ(runOn(loops_.at(1), [&] { return other_->unlock(c.clone()); }), Unlocked::kReleased);
  EXPECT_GT(finish(std::move(third))->fence, c.fence);
}

}  // namespace festa::test
