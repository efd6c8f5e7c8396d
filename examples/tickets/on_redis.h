// Settings, and the two storages that main.cc chooses from.
#pragma once

#include "lock/loop_clients.h"
#include "lock/memory_lock_storage.h"
#include "lock/redis/redis_pubsub_lock_storage.h"

#include <drogon/HttpAppFramework.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

inline std::string setting(const char* name) {
  const auto* const value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string("set ") + name);
  return value;
}

inline unsigned short port(const char* name) {
  return static_cast<unsigned short>(std::stoi(setting(name)));
}

// Locks inside this process. `epoch` is larger at each start.
inline festa::lock::LockStorage& inMemory(std::int64_t epoch) {
  // Kept until the process ends, as everything that event loops use.
  static const auto storage =
      festa::lock::MemoryLockStorage::create(epoch, drogon::app().getLoop());
  return *storage;
}

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
