// The locks of this process: storages, the strategies that use them, the board of holders and
// waiters.
#pragma once

#include "app/operations/metrics.h"
#include "app/operations/recent_locks.h"
#include "app/strategies/configured_protections.h"
#include "app/strategies/strategies.h"
#include "lock/drogon/loop_clients.h"
#include "lock/lock_board.h"
#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_epoch.h"
#include "services/write/database.h"

#include <memory>
#include <optional>

namespace festa {

// Made before app().run(), when the database clients are; thread-safe.
class Locks {
 public:
  // `epoch` is this process's own. `config`, `database` and `metrics` outlive the locks.
  Locks(const Config& config, const Database& database, std::int64_t epoch, Metrics& metrics);

  Strategies& strategies() { return strategies_; }
  lock::LockBoard& board() { return board_; }
  const Protections& protections() const { return configured_; }
  const RecentLocks& recent() const { return recent_; }
  // The observer of every locked request.
  lock::LockObserver& observer() { return recent_; }

  lock::RedisCommands* redis() const { return redis_.get(); }  // nullptr: none
  // A majority of the Redlock nodes answers; nullopt: there are none.
  drogon::Task<std::optional<bool>> redlockAnswers() const;

  // Ends all waiting for locks.
  void close() const { strategies_.close(); }

 private:
  // A sequence of the database.
  class Epochs : public lock::EpochSource {
   public:
    explicit Epochs(const Database& database) : database_(database) {}
    drogon::Task<std::int64_t> draw() override;

   private:
    const Database& database_;
  };

  // Makes the clients of the configured servers.
  lock::StorageSurroundings surroundings(const Config& config, std::int64_t epoch);
  lock::StorageSurroundings::OneRedis addRedis(const Config::Redis& config);
  lock::StorageSurroundings::RedlockNodes addRedlock(const Config::Redlock& config);
  void addStorage(const lock::StorageRow& row, const lock::StorageSurroundings& around,
                  Metrics& metrics);

  Epochs epochs_;
  lock::LockBoard board_;
  // Of the Redis server and of the Redlock nodes.
  std::vector<std::shared_ptr<const lock::LoopRedisClients>> redisClients_;
  std::unique_ptr<lock::RedisCommands> redis_;
  std::vector<std::shared_ptr<lock::LockStorage>> storages_;
  Strategies strategies_;
  const ConfiguredProtections configured_;
  RecentLocks recent_;
};

}  // namespace festa
