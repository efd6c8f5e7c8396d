// The table of a program with one storage more, in place of lock/storage_table.cc.
#include "lock/storages.h"
#include "tests/guest/guest_lock_storage.h"

namespace festa::lock {

namespace {

std::shared_ptr<LockStorage> makeGuest(const StorageSurroundings& around, const std::string&) {
  return std::make_shared<test::GuestLockStorage>(
      MemoryLockStorage::create(around.epoch, around.timers, around.limits));
}

std::vector<StorageRow> withGuest() {
  auto table = builtInStorages();
  table.push_back({.name = test::GuestLockStorage::kName,
                   .what = "a lock inside the process, for tests",
                   .use = "in tests",
                   .order = Order::kInProcess,
                   .sharesHolds = true,
                   .make = makeGuest});
  return table;
}

}  // namespace

const std::vector<StorageRow>& storageTable() {
  static const auto table = withGuest();
  return table;
}

}  // namespace festa::lock
