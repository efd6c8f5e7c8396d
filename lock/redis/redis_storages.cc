// The rows of the storages on Redis.
#include "lock/redis/line/redis_line.h"
#include "lock/redis/redis_spin_lock_storage.h"
#include "lock/redis/redlock/redlock_lock_storage.h"
#include "lock/storages.h"

namespace festa::lock {

namespace {

std::shared_ptr<LockStorage> makeSpin(const StorageSurroundings& around, const std::string& keys) {
  SpinSettings settings;
  settings.maxWaiters = around.limits.waitersInAll;
  const auto& redis = around.redis.value();
  return std::make_shared<RedisSpinLockStorage>(redis.commands, RedisKeys(redis.prefix, keys),
                                                redis.epochs, settings);
}

template <class Storage>
std::shared_ptr<LockStorage> makeLine(const StorageSurroundings& around, const std::string& keys) {
  const auto& redis = around.redis.value();
  return std::make_shared<Storage>(redis.commands, RedisKeys(redis.prefix, keys), redis.epochs,
                                   LineSurroundings{around.timers, redis.messages, around.limits});
}

std::uint64_t offersMissed(const LockStorage& storage) {
  return dynamic_cast<const RedisLine&>(storage).offersMissed();
}

std::shared_ptr<LockStorage> makeRedlock(const StorageSurroundings& around,
                                         const std::string& keys) {
  const auto& nodes = around.redlock.value();
  RedlockSettings settings;
  settings.nodeTimeout = nodes.timeout;
  settings.longestLease = nodes.longestLease;
  settings.spin.maxWaiters = around.limits.waitersInAll;
  return std::make_shared<RedlockLockStorage>(nodes.clients, RedlockKeys(nodes.prefix, keys),
                                              nodes.epochs, settings);
}

drogon::Task<bool> majorityAnswers(LockStorage& storage) {
  return dynamic_cast<RedlockLockStorage&>(storage).answers();
}

}  // namespace

std::vector<StorageRow> redisStorages() {
  return {
      {.name = RedisSpinLockStorage::kName,
       .keys = "spin",
       .what = "a key on Redis, asked for again and again",
       .use = "several instances, contention is rare or requests do not wait",
       .needs = Servers::kRedis,
       .acrossProcesses = true,
       .make = makeSpin},
      {.name = RedisPubSubLockStorage::kName,
       .keys = "pubsub",
       .what = "a key on Redis, handed on inside a process first, between processes by message",
       .use = "several instances, hot keys",
       .needs = Servers::kRedis,
       .acrossProcesses = true,
       .order = Order::kInProcess,
       .followers = true,
       .sharesHolds = true,
       .recommended = true,
       .make = makeLine<RedisPubSubLockStorage>,
       .offersMissed = offersMissed},
      {.name = RedisFairLockStorage::kName,
       .keys = "fair",
       .what = "a line on Redis, every waiter with its own place, direct hand-off",
       .use = "several instances, strict order",
       .needs = Servers::kRedis,
       .acrossProcesses = true,
       .order = Order::kOverall,
       .followers = true,
       .sharesHolds = true,
       .make = makeLine<RedisFairLockStorage>,
       .offersMissed = offersMissed},
      {.name = RedlockLockStorage::kName,
       .keys = "redlock",
       .what = "a key on a majority of independent Redis nodes",
       .use = "several instances, a single Redis must not be the weak point",
       .needs = Servers::kRedlock,
       .acrossProcesses = true,
       .make = makeRedlock,
       .answers = majorityAnswers},
  };
}

}  // namespace festa::lock
