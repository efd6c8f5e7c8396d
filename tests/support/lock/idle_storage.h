// A storage of which no lock is ever asked.
#pragma once

#include "lock/lock_storage.h"

namespace festa::test {

// Counts how often it is closed.
class IdleStorage : public lock::LockStorage {
 public:
  drogon::Task<std::optional<lock::Lease>> tryLock(lock::LockRequest) override {
    co_return std::nullopt;
  }
  drogon::Task<bool> extend(lock::Lease&, lock::Extension) override { co_return false; }
  drogon::Task<lock::Unlocked> unlock(lock::Lease) override { co_return lock::Unlocked::kLost; }
  void close() override { ++closed; }

  int closed = 0;
};

}  // namespace festa::test
