// The locks of this process: storages, the strategies that use them, who holds and waits.
#pragma once

#include "app/configured_protections.h"
#include "app/lab_protections.h"
#include "app/metrics.h"
#include "app/strategies.h"
#include "lock/lock_board.h"
#include "lock/loop_clients.h"
#include "lock/memory_lock_storage.h"
#include "lock/redis/redis_line.h"
#include "lock/redis/redlock_lock_storage.h"
#include "services/database.h"

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
  // By configuration; in the lab also by what requests wish.
  const Protections& protections() const;

  lock::RedisCommands* redis() const { return redis_.get(); }           // nullptr: none
  lock::RedlockLockStorage* redlock() const { return redlock_.get(); }  // nullptr: none

  // Ends all waiting for locks, and pauses of the lab.
  void close();

 private:
  // A sequence of the database.
  class Epochs : public lock::EpochSource {
   public:
    explicit Epochs(const Database& database) : database_(database) {}
    drogon::Task<std::int64_t> draw() override;

   private:
    const Database& database_;
  };

  void addRedis(const Config& config, Metrics& metrics);
  template <class Storage>
  void addLine(const Config& config, const std::string& name, const lock::LineSurroundings& around,
               Metrics& metrics);
  void addRedlock(const Config& config);

  Epochs epochs_;
  lock::LockBoard board_;
  const std::shared_ptr<lock::MemoryLockStorage> memory_;
  // Of the Redis server and of the Redlock nodes.
  std::vector<std::shared_ptr<const lock::LoopRedisClients>> redisClients_;
  std::unique_ptr<lock::RedisCommands> redis_;
  std::vector<std::unique_ptr<lock::LockStorage>> redisStorages_;
  std::unique_ptr<lock::RedlockLockStorage> redlock_;
  Strategies strategies_;
  const ConfiguredProtections configured_;
  LabPauses pauses_;
  std::optional<const LabProtections> lab_;  // only a lab start makes it
};

}  // namespace festa
