// Holders and waiters of locks, for operators.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/json/json_writer.h"
#include "lock/lock_board.h"
#include "lock/redis/redis_commands.h"

#include <optional>
#include <string>
#include <vector>

namespace festa {

// Writes an array with one object per row.
void writeLockRows(JsonWriter& json, const std::vector<lock::LockBoard::Row>& rows);

// GET /admin/locks: the locked requests of this process and, for Redis, the holds of all processes
// that share its keys. The answer may be out of date when it is read: for people, not for
// decisions.
class LockAdminController {
 public:
  static constexpr std::size_t kMostEntries = 1000;  // in each part of the answer

  // `redis` may be null: none is configured, and the fleet's part is empty. `prefix` is that of all
  // keys of all lock storages there. They outlive this.
  LockAdminController(const lock::LockBoard& board, lock::RedisCommands* redis, std::string prefix)
      : board_(board), redis_(redis), prefix_(std::move(prefix)) {}

  // Must outlive the routes.
  void publish(RoutePublisher& routes) const;

 private:
  struct FleetHold {
    std::string storage;
    std::string key;
    std::string owner;
    std::optional<std::int64_t> remainingMs;  // none: it never ends by itself
    std::optional<std::int64_t> waiters;      // none: the storage keeps no line
  };
  struct Fleet {
    std::vector<FleetHold> holds;
    bool complete = true;
  };

  drogon::Task<drogon::HttpResponsePtr> show(const Call<NoInput>& call) const;
  bool writeInstance(JsonWriter& json) const;
  void writeWaiting(JsonWriter& json) const;
  static void writeFleet(JsonWriter& json, const std::optional<Fleet>& fleet);
  drogon::Task<std::optional<Fleet>> readFleet() const;
  static FleetHold holdIn(const std::vector<lock::RedisReply>& row);
  drogon::Task<Fleet> scan() const;

  const lock::LockBoard& board_;
  lock::RedisCommands* const redis_;
  const std::string prefix_;
};

}  // namespace festa
