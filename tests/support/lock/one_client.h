// One Redis client for all loops, as tests have it.
#pragma once

#include "lock/redis/redis_commands.h"

#include <deque>
#include <utility>

namespace festa::test {

class OneClient : public lock::RedisClientSource {
 public:
  explicit OneClient(drogon::nosql::RedisClientPtr client) : client_(std::move(client)) {}
  drogon::nosql::RedisClientPtr here() const override { return client_; }

 private:
  const drogon::nosql::RedisClientPtr client_;
};

// Never destroyed: replies may come when a test is over.
inline const OneClient& keptClient(drogon::nosql::RedisClientPtr client) {
  static auto& kept = *new std::deque<OneClient>;
  return kept.emplace_back(std::move(client));
}

// Never destroyed, either.
inline lock::RedisCommands& keptCommands(drogon::nosql::RedisClientPtr client) {
  static auto& kept = *new std::deque<lock::RedisCommands>;
  return kept.emplace_back(keptClient(std::move(client)));
}

}  // namespace festa::test
