// The commands of line_protocol.h as Redis scripts.
#pragma once

#include "lock/redis/line_protocol.h"
#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_keys.h"

namespace festa::lock {

struct LineCall {
  const RedisScript& script;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;
};

// `process` is who asks.
LineCall callOf(const LineCommand& command, const RedisKeys& keys, const std::string& process);
LineReply replyOf(const RedisReply& reply);

// A wake-up message: which ticket was offered which key. nullopt: the echo of a beat.
struct Offer {
  std::string ticket;
  LockKey key;
};
std::optional<Offer> offerOf(const std::string& message);

}  // namespace festa::lock
