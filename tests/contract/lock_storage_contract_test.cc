#include "tests/contract/lock_storage_contract.h"
#include "tests/support/history/history.h"

#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <set>

namespace festa::test {

using lock::Extension;
using lock::Lease;
using lock::Millis;
using lock::SteadyClock;
using lock::Unlocked;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

constexpr Millis kLong{30'000};
// Longer than it takes to ask five servers, also on a busy machine.
constexpr Millis kShort{1500};

using Inside = std::function<drogon::Task<>(trantor::EventLoop*)>;

drogon::Task<> takeAgainAndAgain(lock::LockStorage& storage, trantor::EventLoop* loop,
                                 std::string name, int times, const Inside& inside,
                                 History& history) {
  const lock::LockRequest request{"hot", kLong, kLong};
  for (int i = 0; i < times; ++i) {
    const auto who = name + "." + std::to_string(i);
    const auto asked = SteadyClock::now();
    const auto lease = co_await storage.tryLock(request);
    if (!lease) throw std::runtime_error("busy for the whole wait");
    history.arrived("hot", who, asked, lease->received);
    history.granted("hot", who, lease->fence, SteadyClock::now());
    co_await inside(loop);
    history.ended("hot", who, lease->fence, SteadyClock::now(), History::End::kReleased);
    const auto how = co_await storage.unlock(lease->clone());
    if (how != Unlocked::kReleased) throw std::runtime_error("lost while it was held");
  }
}

// Nine coroutines on three threads that want the same key again and again.
void rush(lock::LockStorage& storage, Loops& loops, int timesEach, const Inside& inside,
          History& history) {
  std::vector<std::future<void>> all;
  for (std::size_t i = 0; i < 9; ++i) {
    auto* const loop = loops.at(1 + i % 3);
    all.push_back(startOn(loop, [&, loop, i] {
      return takeAgainAndAgain(storage, loop, std::to_string(i), timesEach, inside, history);
    }));
  }
  for (auto& one : all) finish(std::move(one));
}

// Grants its key a second time while it is held, once.
class GrantsOnceTwice : public lock::LockStorage {
 public:
  explicit GrantsOnceTwice(std::shared_ptr<lock::LockStorage> inner) : inner_(std::move(inner)) {}

  drogon::Task<std::optional<Lease>> tryLock(lock::LockRequest request) override {
    // The second request gets a lease, but of another key.
    if (++requests_ == 2) request.key = "double";
    co_return co_await inner_->tryLock(request);
  }
  drogon::Task<bool> extend(Lease& lease, Extension extension) override {
    return inner_->extend(lease, extension);
  }
  drogon::Task<Unlocked> unlock(Lease lease) override { return inner_->unlock(std::move(lease)); }
  void close() override { inner_->close(); }

 private:
  const std::shared_ptr<lock::LockStorage> inner_;
  std::atomic<int> requests_{0};
};

bool promisesOrder(const lock::StorageRow& row) {
  return row.order != lock::Order::kNone;
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Storages, LockStorageContract, testing::ValuesIn(storageNames()),
                         nameOfStorage);
INSTANTIATE_TEST_SUITE_P(Storages, FifoLockStorageContract,
                         testing::ValuesIn(storageNames(promisesOrder)), nameOfStorage);

TEST_P(LockStorageContract, AFreeKeyIsGrantedAtOnce) {
  const auto lease = lock("k");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->key, "k");
  EXPECT_FALSE(lease->owner.empty());
  EXPECT_GT(lease->fence, 0);
  EXPECT_GT(lease->validUntil, SteadyClock::now());
}

TEST_P(LockStorageContract, TheLeaseIsNotTrustedUntilItsVeryEnd) {
  const auto before = SteadyClock::now();
  const auto lease = lock("k", Millis{0}, Millis{1000});
  ASSERT_TRUE(lease);
  EXPECT_LT(lease->validUntil, SteadyClock::now() + Millis{1000});
  EXPECT_GT(lease->validUntil, before + Millis{500});
}

TEST_P(LockStorageContract, ALeaseTellsWhenItsRequestWasReceived) {
  const auto before = SteadyClock::now();
  const auto held = lock("k");
  ASSERT_TRUE(held);
  EXPECT_GE(held->received, before);
  EXPECT_LE(held->received, SteadyClock::now());
  const auto asked = SteadyClock::now();
  auto waiter = startLock("k", kLong, kLong, 2);
  settle(2);
  ASSERT_TRUE(lock("other", kLong, kLong, 2)) << "is answered after the waiter's first question";
  const auto released = SteadyClock::now();
  EXPECT_EQ(unlock(*held), Unlocked::kReleased);
  const auto next = finish(std::move(waiter));
  ASSERT_TRUE(next);
  EXPECT_GE(next->received, asked);
  EXPECT_LT(next->received, released) << "the time of the grant instead";
}

TEST_P(LockStorageContract, AHeldKeyIsBusyWithoutWait) {
  const auto lease = lock("k");
  ASSERT_TRUE(lease);
  EXPECT_FALSE(lock("k"));
}

TEST_P(LockStorageContract, DifferentKeysDoNotBlockEachOther) {
  const auto one = lock("k1");
  const auto other = lock("k2");
  EXPECT_TRUE(one);
  EXPECT_TRUE(other);
}

TEST_P(LockStorageContract, TwoCoroutinesOnOneThreadExcludeEachOther) {
  const auto first = lock("k");
  ASSERT_TRUE(first);
  auto second = startLock("k", kLong, kLong, 1);
  settle(1);
  EXPECT_EQ(second.wait_for(Millis{30}), std::future_status::timeout);
  EXPECT_EQ(unlock(*first), Unlocked::kReleased);
  EXPECT_TRUE(finish(std::move(second)));
}

TEST_P(LockStorageContract, AHoldTakenOnOneThreadIsGivenBackOnAnother) {
  const auto lease = lock("k", Millis{0}, kLong, 1);
  ASSERT_TRUE(lease);
  EXPECT_EQ(unlock(*lease, 2), Unlocked::kReleased);
  EXPECT_TRUE(lock("k", Millis{0}, kLong, 3));
}

TEST_P(FifoLockStorageContract, WaitersAreGrantedInTheOrderOfTheirArrival) {
  constexpr int kWaiters = 50;
  auto held = lock("k");
  ASSERT_TRUE(held);
  std::vector<Future> waiting;
  for (int i = 0; i < kWaiters; ++i) {
    const std::size_t loop = 1 + static_cast<std::size_t>(i) % 3;
    waiting.push_back(startLock("k", kLong, kLong, loop));
    settle(loop);
  }
  for (auto& next : waiting) {
    ASSERT_EQ(unlock(*held), Unlocked::kReleased);
    held = finish(std::move(next));
    ASSERT_TRUE(held);
  }
}

TEST_P(LockStorageContract, AWaiterGivesUpAfterItsWaitAndHoldsUpNoOther) {
  auto held = lock("k");
  ASSERT_TRUE(held);
  auto impatient = startLock("k", Millis{30}, kLong, 1);
  settle(1);
  auto patient = startLock("k", kLong, kLong, 2);
  EXPECT_FALSE(finish(std::move(impatient)));
  unlock(*held);
  EXPECT_TRUE(finish(std::move(patient)));
}

TEST_P(LockStorageContract, AWaiterIsGrantedWhenTheLeaseOfASilentHolderEnds) {
  const auto silent = lock("k", Millis{0}, kShort);
  ASSERT_TRUE(silent);
  const auto next = lock("k", kLong, kLong, 2);
  ASSERT_TRUE(next);
  EXPECT_GE(SteadyClock::now(), silent->validUntil);
  EXPECT_GT(next->fence, silent->fence);
}

TEST_P(FifoLockStorageContract, SilentHoldersInARowEachCostOneLeaseOnly) {
  // Each waiter takes the key and never gives it back: the line moves on by leases alone.
  constexpr Millis kTurn{kSanitized ? 300 : 60};
  const auto started = SteadyClock::now();
  std::vector<Future> line;
  for (int i = 0; i < 10; ++i) {
    line.push_back(startLock("k", kLong, kTurn, 1));
    settle(1);
  }
  std::int64_t fence = 0;
  for (auto& waiter : line) {
    const auto lease = finish(std::move(waiter));
    ASSERT_TRUE(lease);
    EXPECT_GT(lease->fence, fence);
    fence = lease->fence;
  }
  EXPECT_GE(SteadyClock::now() - started, 9 * kTurn);
}

TEST_P(LockStorageContract, UnlockByAStrangerChangesNothing) {
  const auto held = lock("k");
  ASSERT_TRUE(held);
  auto stranger = held->clone();
  stranger.owner = "another owner";
  EXPECT_EQ(unlock(stranger), Unlocked::kLost);
  EXPECT_FALSE(lock("k"));
}

TEST_P(LockStorageContract, ASecondUnlockIsReportedAsLostAndFreesNoOtherHold) {
  const auto first = lock("k");
  ASSERT_TRUE(first);
  EXPECT_EQ(unlock(*first), Unlocked::kReleased);
  const auto second = lock("k");
  ASSERT_TRUE(second);
  EXPECT_EQ(unlock(*first), Unlocked::kLost);
  EXPECT_FALSE(lock("k")) << "the second hold was freed by the first one's late unlock";
}

TEST_P(LockStorageContract, AnUnlockAfterTheLeaseIsReportedAsLost) {
  const auto late = lock("k", Millis{0}, kShort);
  ASSERT_TRUE(late);
  const auto next = lock("k", kLong, kLong, 2);
  ASSERT_TRUE(next);
  EXPECT_EQ(unlock(*late), Unlocked::kLost);
  EXPECT_FALSE(lock("k"));
}

TEST_P(LockStorageContract, UnlockOfAFreeKeyIsLost) {
  EXPECT_EQ(unlock(Lease{"never", "owner", 1, SteadyClock::now()}), Unlocked::kLost);
}

TEST_P(LockStorageContract, OwnersAreUniqueAndFencesGrowWithEveryGrant) {
  std::set<std::string> owners;
  std::int64_t fence = 0;
  for (int i = 0; i < 100; ++i) {
    const auto lease = lock(i % 2 == 0 ? "k1" : "k2");
    ASSERT_TRUE(lease);
    EXPECT_TRUE(owners.insert(lease->owner).second);
    EXPECT_GT(lease->fence, fence);
    fence = lease->fence;
    unlock(*lease);
  }
  EXPECT_LT(fence, std::int64_t{1} << 53);
}

TEST_P(LockStorageContract, FencesOfARestartedStorageAreAboveAllEarlierOnes) {
  const auto before = lock("k");
  ASSERT_TRUE(before);
  unlock(*before);
  storage_ = another();
  const auto after = lock("k");
  ASSERT_TRUE(after);
  EXPECT_GT(after->fence, before->fence);
}

TEST_P(LockStorageContract, AShortLeaseBehindALongOneEndsInItsOwnTime) {
  const auto first = lock("k", Millis{0}, kLong);
  ASSERT_TRUE(first);
  auto second = startLock("k", kLong, kShort);
  settle();
  unlock(*first);
  ASSERT_TRUE(finish(std::move(second)));  // never gives back
  EXPECT_TRUE(lock("k", kLong, kLong, 2)) << "not before the end of the first lease";
}

TEST_P(LockStorageContract, ExtendKeepsTheKeyBeyondTheFirstLease) {
  auto lease = lock("k", Millis{0}, kShort);
  ASSERT_TRUE(lease);
  const auto firstEnd = lease->validUntil;
  Extension longer;
  longer.lease = kLong;
  ASSERT_TRUE(extend(*lease, longer));
  EXPECT_GT(lease->validUntil, firstEnd);
  std::this_thread::sleep_until(firstEnd + kShort);  // the first lease is certainly over
  EXPECT_FALSE(lock("k"));
  EXPECT_EQ(unlock(*lease), Unlocked::kReleased);
}

TEST_P(LockStorageContract, ExtendGivesTheOwnerAFenceAboveAnyGivenOne) {
  auto lease = lock("k");
  ASSERT_TRUE(lease);
  const auto first = lease->fence;
  Extension above;
  above.fenceAbove = first + 1000;
  ASSERT_TRUE(extend(*lease, above));
  EXPECT_GT(lease->fence, first + 1000);
  const auto other = lock("another key");
  ASSERT_TRUE(other);
  EXPECT_GT(other->fence, lease->fence) << "a later grant must be above a renewed token";
}

TEST_P(LockStorageContract, ExtendOfALostHoldIsRefusedAndCreatesNothing) {
  auto lease = lock("k");
  ASSERT_TRUE(lease);
  unlock(*lease);
  Extension both;
  both.lease = kLong;
  both.fenceAbove = lease->fence;
  EXPECT_FALSE(extend(*lease, both));
  EXPECT_TRUE(lock("k")) << "the refused extension has taken the key";
}

TEST_P(LockStorageContract, ExtendNeverTouchesASuccessorsHold) {
  auto late = lock("k", Millis{0}, kShort);
  ASSERT_TRUE(late);
  auto next = lock("k", kLong, kShort, 2);
  ASSERT_TRUE(next);
  Extension longer;
  longer.lease = kLong;
  EXPECT_FALSE(extend(*late, longer));
  EXPECT_TRUE(lock("k", kLong, kLong, 3))
      << "the successor's lease was prolonged by its predecessor";
}

TEST_P(LockStorageContract, BeyondTheLimitOfWaitersOneIsRefusedAtOnce) {
  storage_ = another(2);
  const auto held = lock("k");
  ASSERT_TRUE(held);
  auto first = startLock("k", kLong, kLong);
  auto second = startLock("k", kLong, kLong);
  settle();
  EXPECT_THROW(lock("k", kLong), lock::LockQueueFull);
  EXPECT_TRUE(lock("another key", kLong)) << "a full line of one key must not close another";
  storage().close();
  EXPECT_THROW(finish(std::move(first)), lock::LockClosed);
  EXPECT_THROW(finish(std::move(second)), lock::LockClosed);
}

TEST_P(LockStorageContract, CloseFailsWaitersPromptlyAndLetsHoldersFinish) {
  const auto held = lock("k");
  ASSERT_TRUE(held);
  std::vector<Future> waiting;
  for (int i = 0; i < 20; ++i)
    waiting.push_back(startLock("k", kLong, kLong, 1 + static_cast<std::size_t>(i) % 3));
  for (std::size_t loop = 1; loop < 4; ++loop) settle(loop);
  storage().close();
  for (auto& waiter : waiting) EXPECT_THROW(finish(std::move(waiter)), lock::LockClosed);
  EXPECT_THROW(lock("another key"), lock::LockClosed);
  EXPECT_EQ(unlock(*held), Unlocked::kReleased);
}

// Waits that end at the very moment of a grant: each is either delivered or handed on, so the line
// never stops.
TEST_P(LockStorageContract, AWaiterThatTimesOutAtItsGrantGetsTheKeyOrHandsItOn) {
  std::mt19937 random(20260520);
  for (int round = 0; round < 60; ++round) {
    const auto key = "round" + std::to_string(round);
    auto held = lock(key);
    ASSERT_TRUE(held);
    auto racing = startLock(key, Millis{2}, kLong, 1);
    settle(1);
    auto behind = startLock(key, kLong, kLong, 2);
    settle(2);
    std::this_thread::sleep_for(std::chrono::microseconds(1500 + random() % 1000));
    unlock(*held, 3);
    if (const auto lease = finish(std::move(racing))) {
      EXPECT_EQ(behind.wait_for(Millis{0}), std::future_status::timeout) << "granted twice";
      unlock(*lease);
    }
    const auto next = finish(std::move(behind));
    ASSERT_TRUE(next) << "a wake-up was lost";
    unlock(*next);
  }
}

// The exclusion itself: many coroutines on several threads.
TEST_P(LockStorageContract, ManyCoroutinesNeverHoldAKeyTogether) {
  // Each grant of a Redlock asks five servers twice.
  const bool isSlow = row().needs == lock::Servers::kRedlock;
  const int each = (isSlow ? 60 : 300) / (kSanitized ? 3 : 1);
  History history;
  const auto inside = [](trantor::EventLoop* loop) -> drogon::Task<> {
    co_await drogon::sleepCoro(loop, 0.0);
  };
  rush(*storage_, loops_, each, inside, history);
  EXPECT_EQ(history.size(), 3U * 9 * static_cast<std::size_t>(each));
  EXPECT_THAT(history.check({.fifo = promisesOrder(row())}), IsEmpty());
}

// The check above is not blind: one double grant among many is seen.
TEST(LockStorageContractItself, CatchesADoubleGrant) {
  Loops loops(4);
  GrantsOnceTwice storage(makeStorage({.name = "memory", .epochs = countedEpochs()}, loops));
  History history;
  // No holder gives back before the double is there, so that it is a double for sure.
  const auto inside = [&](trantor::EventLoop* loop) -> drogon::Task<> {
    while (history.size() < 4) co_await drogon::sleepCoro(loop, 0.001);
  };
  rush(storage, loops, 20, inside, history);
  EXPECT_THAT(history.check(), Contains(HasSubstr(" was granted while ")));
}

}  // namespace festa::test
