// What every LockStorage must do. A storage joins by adding an instance of the suite with its own
// factory:
//   INSTANTIATE_TEST_SUITE_P(Memory, LockStorageContract, testing::Values(kMemory), nameOfKind);
#pragma once

#include "lock/lock_storage.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace festa::test {

struct StorageLimits {
  std::size_t waitersPerKey = 100'000;
};

struct StorageKind {
  std::string name;
  // A storage whose timers run on `loops.at(0)`. Storages made one after another share whatever is
  // durable: the fences of a later one are above those of an earlier one.
  std::function<std::shared_ptr<lock::LockStorage>(Loops& loops, StorageLimits limits)> make;
  int grantsEach =
      kSanitized ? 100 : 300;  // where many want one key; fewer for storages that take longer
};
// Storages that promise an order join FifoLockStorageContract as well.

inline std::string nameOfKind(const testing::TestParamInfo<StorageKind>& info) {
  return info.param.name;
}

class LockStorageContract : public testing::TestWithParam<StorageKind> {
 protected:
  using Future = std::future<std::optional<lock::Lease>>;

  lock::LockStorage& storage() { return *storage_; }
  std::shared_ptr<lock::LockStorage> another() { return GetParam().make(loops_, {}); }
  void remake(StorageLimits limits) { storage_ = GetParam().make(loops_, limits); }

  // On the loop `at`; loop 0 is left to timers.
  Future startLock(const std::string& key, lock::Millis wait, lock::Millis lease,
                   std::size_t at = 1) {
    return startOn(loops_.at(at), [this, request = lock::LockRequest{key, wait, lease}] {
      return storage_->tryLock(request);
    });
  }
  std::optional<lock::Lease> lock(const std::string& key, lock::Millis wait = lock::Millis{0},
                                  lock::Millis lease = lock::Millis{30'000}, std::size_t at = 1) {
    return finish(startLock(key, wait, lease, at));
  }
  lock::Unlocked unlock(const lock::Lease& lease, std::size_t at = 1) {
    return runOn(loops_.at(at), [this, lease] { return storage_->unlock(lease); });
  }
  bool extend(lock::Lease& lease, const lock::Extension& extension) {
    return runOn(loops_.at(1),
                 [this, &lease, extension] { return storage_->extend(lease, extension); });
  }
  // Everything started on the loop before has reached its first suspension, and what it has left
  // for the end of the loop's turn is done.
  void settle(std::size_t at = 1) {
    for (int round = 0; round < 2; ++round) {
      std::promise<void> done;
      loops_.at(at)->queueInLoop([&] { done.set_value(); });
      done.get_future().wait();
    }
  }

  Loops loops_{4};
  std::shared_ptr<lock::LockStorage> storage_ = GetParam().make(loops_, {});
};

class FifoLockStorageContract : public LockStorageContract {};

}  // namespace festa::test
