// A lock on Redis by asking again and again.
#pragma once

#include "lock/engine/spin.h"
#include "lock/redis/redis_holds.h"

#include <atomic>

namespace festa::lock {

// SET NX PX with a jittered, growing pause between attempts; with wait 0 the fail-fast lock.
// Promises exclusion across processes as far as one Redis server can (a failover may lose a grant;
// the fence is what protects then), and no order: the first that asks for a free key gets it. An
// uncontended lock and unlock are two commands; waiting costs commands in proportion to waiters and
// time.
class RedisSpinLockStorage : public LockStorage {
 public:
  static constexpr const char* kName = "redis-spin";

  // `commands` and `epochs` outlive the storage. The storage outlives the event loops on which it
  // is used: after a lost reply it gives back by itself.
  RedisSpinLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                       SpinSettings settings);

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override;
  drogon::Task<bool> extend(Lease& lease, Extension extension) override;
  drogon::Task<Unlocked> unlock(Lease lease) override;
  void close() override { spin_.close(); }

 private:
  drogon::Task<std::optional<Lease>> attempt(LockRequest request, std::string owner);

  FencedServer server_;
  RedisHolds holds_;
  const std::string ownerPrefix_;
  std::atomic<std::uint64_t> acquisitions_{0};
  Spin spin_;
};

}  // namespace festa::lock
