// The storage for several processes. It needs a festa_lock that was built on a Drogon with our
// patches; see docs/lock.md.
#pragma once

#include "settings.h"

#include "lock/drogon/loop_clients.h"
#include "lock/redis/line/redis_line.h"

#include <drogon/HttpAppFramework.h>

// An epoch for Redis whenever it has lost its counter.
class Epochs : public festa::lock::EpochSource {
 public:
  explicit Epochs(std::shared_ptr<const festa::lock::LoopDbClients> clients)
      : clients_(std::move(clients)) {}

  drogon::Task<std::int64_t> draw() override {
    const auto client = clients_->here();
    const auto rows = co_await client->execSqlCoro("SELECT nextval('lock_epoch')");
    co_return rows[0][0].as<std::int64_t>();
  }

 private:
  const std::shared_ptr<const festa::lock::LoopDbClients> clients_;
};

// Locks on the Redis server of REDIS_PORT, for all processes that use it.
inline festa::lock::LockStorage& onRedis(
    std::shared_ptr<const festa::lock::LoopDbClients> database) {
  auto& app = drogon::app();
  app.createRedisClient("127.0.0.1", port("REDIS_PORT"), "default", "", 1, true, 1.0);
  const auto& clients = *new std::shared_ptr(festa::lock::fastRedisClients());
  auto& commands = *new festa::lock::RedisCommands(*clients);
  auto& epochs = *new Epochs(std::move(database));
  return *new festa::lock::RedisPubSubLockStorage(
      commands, festa::lock::RedisKeys("tickets", "pubsub"), epochs, {app.getLoop(), *clients});
}
