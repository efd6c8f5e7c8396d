// One Redis client for all loops, as tests have it.
#pragma once

#include "lock/redis/redis_commands.h"

#include <deque>
#include <memory>
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

// Commands that own their client.
inline std::shared_ptr<lock::RedisCommands> commandsOf(drogon::nosql::RedisClientPtr client) {
  struct Owned {
    explicit Owned(drogon::nosql::RedisClientPtr one) : client(std::move(one)) {}
    const OneClient client;
    lock::RedisCommands commands{client};
  };
  const auto owned = std::make_shared<Owned>(std::move(client));
  return {owned, &owned->commands};
}

}  // namespace festa::test
