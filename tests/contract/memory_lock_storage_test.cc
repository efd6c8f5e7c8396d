#include "lock/memory/memory_lock_storage.h"

#include "tests/contract/lock_storage_contract.h"
#include "tests/support/size.h"

namespace festa::test {

namespace {

class MemoryLockStorageTest : public LockStorageContract {
 protected:
  lock::MemoryLockStorage& memory() { return dynamic_cast<lock::MemoryLockStorage&>(storage()); }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Table, MemoryLockStorageTest,
                         testing::Values(lock::MemoryLockStorage::kName), nameOfStorage);

TEST_P(MemoryLockStorageTest, NothingIsLeftBehindWhenAllIsGivenBack) {
  auto held = lock("k");
  ASSERT_TRUE(held);
  std::vector<Future> line;
  for (int i = 0; i < 5; ++i) {
    line.push_back(startLock("k", lock::Millis{30'000}, lock::Millis{30'000}));
    settle();
  }
  EXPECT_EQ(memory().waiters(), 5U);
  for (auto& next : line) {
    unlock(*held);
    held = finish(std::move(next));
  }
  unlock(*held);
  EXPECT_EQ(memory().keys(), 0U);
  EXPECT_EQ(memory().waiters(), 0U);
}

// A holder that blocks its own event loop past its lease: a waiter on another loop gets the key,
// and whatever the holder does when it wakes is refused.
TEST_P(MemoryLockStorageTest, AHolderThatBlocksItsLoopLosesTheKey) {
  const auto blocked = lock("k", lock::Millis{0}, lock::Millis{60}, 1);
  ASSERT_TRUE(blocked);
  std::promise<void> wake;
  loops_.at(1)->queueInLoop([&] { wake.get_future().wait(); });
  const auto next = lock("k", lock::Millis{30'000}, lock::Millis{30'000}, 2);
  wake.set_value();
  ASSERT_TRUE(next);
  EXPECT_GT(next->fence, blocked->fence);
  EXPECT_EQ(unlock(*blocked, 1), lock::Unlocked::kLost);
}

// 2^32 of them have been given.
TEST_P(MemoryLockStorageTest, WithoutATokenLeftItIsUnavailableAndTheProcessGoesOn) {
  ASSERT_TRUE(lock("expires", lock::Millis{0}, lock::Millis{1500}));
  auto held = lock("k");
  ASSERT_TRUE(held);
  const lock::Extension toTheLast{.lease = {}, .fenceAbove = (held->fence | 0xFFFFFFFF) - 1};
  ASSERT_TRUE(runOn(loops_.at(), [&] { return storage().extend(*held, toTheLast); }));
  auto behindExpired = startLock("expires", lock::Millis{4000}, lock::Millis{30'000});
  auto next = startLock("k", lock::Millis{4000}, lock::Millis{30'000});
  settle();
  EXPECT_EQ(unlock(*held), lock::Unlocked::kUnknown);
  EXPECT_FALSE(finish(std::move(behindExpired)));
  EXPECT_FALSE(finish(std::move(next)));
  EXPECT_THROW(lock("another"), lock::LockStorageUnavailable);
}

TEST_P(MemoryLockStorageTest, TenThousandWaitersWithCancelsAreServedInOrder) {
  constexpr int kWaiters = kSanitized ? 2000 : 10'000;
  auto held = lock("k");
  ASSERT_TRUE(held);
  std::vector<Future> line;
  for (int i = 0; i < kWaiters; ++i)
    // Every tenth gives up soon; the others stay.
    line.push_back(
        startLock("k", lock::Millis{i % 10 == 9 ? 50 : 60'000}, lock::Millis{60'000}, 1));
  settle();
  for (int i = 9; i < kWaiters; i += 10)
    EXPECT_FALSE(finish(std::move(line[static_cast<std::size_t>(i)])));
  for (int i = 0; i < kWaiters; ++i) {
    if (i % 10 == 9) continue;
    unlock(*held);
    held = finish(std::move(line[static_cast<std::size_t>(i)]));
    ASSERT_TRUE(held) << i;
  }
  unlock(*held);
  EXPECT_EQ(memory().keys(), 0U);
  EXPECT_EQ(memory().waiters(), 0U);
}

}  // namespace festa::test
