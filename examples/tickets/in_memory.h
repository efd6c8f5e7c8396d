// The storage for one process.
#pragma once

#include "lock/memory/memory_lock_storage.h"

#include <drogon/HttpAppFramework.h>

// Locks inside this process. `epoch` is larger at each start.
inline festa::lock::LockStorage& inMemory(std::int64_t epoch) {
  // Kept until the process ends, as everything that event loops use.
  static const auto storage =
      festa::lock::MemoryLockStorage::create(epoch, drogon::app().getLoop());
  return *storage;
}
