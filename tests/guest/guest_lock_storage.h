// A storage that only tests have: `memory` under another name. It shows that a header, a source, a
// row (storage_table.cc) and a line of CMake are all that a new storage takes.
#pragma once

#include "lock/memory/memory_lock_storage.h"

namespace festa::test {

// As MemoryLockStorage.
class GuestLockStorage : public lock::LockStorage {
 public:
  static constexpr const char* kName = "guest";

  explicit GuestLockStorage(std::shared_ptr<lock::MemoryLockStorage> inner)
      : inner_(std::move(inner)) {}

  drogon::Task<std::optional<lock::Lease>> tryLock(lock::LockRequest request) override;
  drogon::Task<bool> extend(lock::Lease& lease, lock::Extension extension) override;
  drogon::Task<lock::Unlocked> unlock(lock::Lease lease) override;
  void close() override { inner_->close(); }

 private:
  // Shared: its timers hold it weakly.
  const std::shared_ptr<lock::MemoryLockStorage> inner_;
};

}  // namespace festa::test
