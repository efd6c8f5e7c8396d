// The commands of line_protocol.h as Redis scripts.
#pragma once

#include "lock/redis/line/line_protocol.h"
#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_keys.h"

#include <span>

namespace festa::lock {

struct LineCall {
  const RedisScript& script;
  std::vector<std::string> keys;
  std::vector<std::string> arguments;
};

// At most this many steps in one call.
constexpr std::size_t kStepsPerCall = 32;

// One atomic step after the other, in one call; or a single beat or quit. Steps about the same key
// stand together. `process` is who asks.
LineCall callOf(std::span<const LineCommand> steps, const RedisKeys& keys,
                const std::string& process);
// One reply for each step.
std::vector<LineReply> repliesOf(const RedisReply& reply, std::span<const LineCommand> steps);

// What the server has published to a process. What it does not understand is an echo.
LineMessage messageOf(const std::string& text);

}  // namespace festa::lock
