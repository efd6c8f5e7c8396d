#include "lock/storages.h"

#include "lock/memory/memory_lock_storage.h"

namespace festa::lock {

namespace {

std::shared_ptr<LockStorage> makeMemory(const StorageSurroundings& around, const std::string&) {
  return MemoryLockStorage::create(around.epoch, around.timers, around.limits);
}

}  // namespace

bool StorageSurroundings::have(Servers servers) const {
  switch (servers) {
    case Servers::kNone: return true;
    case Servers::kRedis: return redis.has_value();
    case Servers::kRedlock: return redlock.has_value();
  }
  return false;
}

std::vector<StorageRow> builtInStorages() {
  std::vector<StorageRow> rows{
      {.name = MemoryLockStorage::kName,
       .what = "a lock inside the process",
       .use = "one instance",
       .order = Order::kInProcess,
       .sharesHolds = true,
       .recommended = true,
       .make = makeMemory},
  };
#ifdef FESTA_WITH_REDIS
  for (const auto& row : redisStorages()) rows.push_back(row);
#endif
  return rows;
}

const StorageRow* findStorage(const std::string& name) {
  for (const auto& row : storageTable())
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace festa::lock
