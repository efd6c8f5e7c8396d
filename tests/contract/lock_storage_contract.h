// What every LockStorage must do. All storages of the table take part.
#pragma once

#include "lock/lock_storage.h"
#include "tests/support/lock/storages.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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
    return runOn(loops_.at(at), [&] { return storage_->unlock(lease.clone()); });
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
  struct Together {
    lock::Lease before;                // of who held the key
    std::vector<lock::Lease> members;  // of those who have it now
    std::vector<Future> behind;        // who still wait
  };
  // The key is given back to such a line, whose first `count` get it together. Where a machine
  // stands still for longer than an offer lasts, the line loses its places and takes new ones, one
  // after the other: it is made anew then.
  Together standTogether(const std::vector<std::size_t>& together, std::size_t count) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      Together all{lock("k").value(), {}, stand(together)};
      unlock(all.before);
      auto next = all.behind.begin();
      for (; all.members.size() < count; ++next) {
        if (next->wait_for(std::chrono::seconds(5)) != std::future_status::ready) break;
        all.members.push_back(finish(std::move(*next)).value());
      }
      all.behind.erase(all.behind.begin(), next);
      const bool areTogether = std::ranges::all_of(all.members, [&](const lock::Lease& one) {
        return one.company && one.company == all.members[0].company;
      });
      if (all.members.size() == count && areTogether) return all;
      for (const auto& member : all.members) unlock(member);
      for (auto& one : all.behind) unlock(finish(std::move(one)).value());
    }
    throw std::runtime_error("neighbours in line do not get the key together");
  }
  static bool isWaiting(const Future& one) {
    return one.wait_for(lock::Millis{30}) == std::future_status::timeout;
  }
};

}  // namespace festa::test
