// What every LockStorage must do. All storages of the table take part.
#pragma once

#include "lock/lock_storage.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"
#include "tests/support/storages.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace festa::test {

class LockStorageContract : public testing::TestWithParam<std::string> {
 protected:
  using Future = std::future<std::optional<lock::Lease>>;

  lock::LockStorage& storage() { return *storage_; }
  const lock::StorageRow& row() const { return *lock::findStorage(GetParam()); }
  // Storages made one after another share whatever is durable: the fences of a later one are above
  // those of an earlier one.
  std::shared_ptr<lock::LockStorage> another(std::size_t waitersPerKey = 100'000) {
    auto options = onSharedServers(GetParam());
    options.maxWaiters = waitersPerKey;
    return makeStorage(options, loops_);
  }

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
  std::shared_ptr<lock::LockStorage> storage_ = another();
};

// Those that promise an order, besides.
class FifoLockStorageContract : public LockStorageContract {};

// Storages that let neighbours in line hold a key together; shared_hold_contract_test.cc.
class SharedHoldContract : public LockStorageContract {
 protected:
  // In line for "k" one after the other, each with so many together.
  std::vector<Future> stand(const std::vector<std::size_t>& together,
                            lock::Millis lease = lock::Millis{30'000}) {
    std::vector<Future> line;
    for (const auto most : together) {
      const lock::LockRequest request{"k", lock::Millis{30'000}, lease, most};
      line.push_back(startOn(loops_.at(1), [this, request] { return storage_->tryLock(request); }));
      settle();
    }
    return line;
  }
  static bool isWaiting(const Future& one) {
    return one.wait_for(lock::Millis{30}) == std::future_status::timeout;
  }
};

}  // namespace festa::test
