// Locks inside one process: the default for one instance, and the honest test double.
#pragma once

#include "lock/engine/waiter.h"
#include "lock/lock_storage.h"
#include "lock/memory/lock_table.h"

#include <memory>
#include <mutex>
#include <unordered_map>

namespace festa::lock {

// FIFO per key across all event loops of the process. Excludes nothing in other processes.
//
// Ownership: kept by a shared_ptr; timers hold it weakly, so dropping it leaves nothing behind.
// `timers` is a loop that no holder blocks: it ends the holds of those that never come back. An
// uncontended lock and unlock start no timer, a contended key has one at a time.
class MemoryLockStorage : public LockStorage,
                          public std::enable_shared_from_this<MemoryLockStorage> {
 public:
  static constexpr const char* kName = "memory";

  // `epoch` must be larger at each start of the process that shares the fenced rows; see fence.h.
  // It is good for 2^32 tokens. After them tryLock() throws LockStorageUnavailable and the lines
  // stand still until the process starts again.
  static std::shared_ptr<MemoryLockStorage> create(std::int64_t epoch, trantor::EventLoop* timers,
                                                   LockTableLimits limits = {});

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override;
  drogon::Task<bool> extend(Lease& lease, Extension extension) override;
  drogon::Task<Unlocked> unlock(Lease lease) override;
  void close() override;

  std::size_t keys() const;
  std::size_t waiters() const;

 private:
  MemoryLockStorage(std::int64_t epoch, trantor::EventLoop* timers, LockTableLimits limits);

  struct InLine {};
  // Granted or refused at once, or in line: then `waiter` is told the end.
  std::variant<std::optional<Lease>, InLine> arrive(const LockRequest& request, Waiter& waiter);
  void startWaitTimer(const LockRequest& request, WaiterId id, const Waiter& waiter);
  void timeOut(const LockKey& key, WaiterId id);
  void watchHolder(const LockKey& key, SteadyTime expiresAt);
  void onHolderTimer(const LockKey& key, SteadyTime armedFor);
  void deliver(LockTable::Grants grants);

  trantor::EventLoop* const timers_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  LockTable table_;
  std::unordered_map<WaiterId, Waiter*> waiting_;  // exactly those that stand in a line of table_
  // Keys with a holder timer under way, and when the earliest one of each ends.
  std::unordered_map<LockKey, SteadyTime> watched_;
  WaiterId lastWaiter_ = 0;
  bool closed_ = false;
};

}  // namespace festa::lock
