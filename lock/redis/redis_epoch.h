// Where the tokens of a Redis server begin.
#pragma once

#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_keys.h"

#include <functional>
#include <memory>
#include <string>

namespace festa::lock {

// A number that is larger at each call, also across restarts of everything: a sequence of the
// database that checks the fences.
using EpochSource = std::function<drogon::Task<std::int64_t>()>;

// Draws an epoch and raises the server's fence counter to its beginning; never lowers it. The
// counter is then at home on this server. Throws LockStorageUnavailable, and what the source
// throws.
drogon::Task<> startNewEpoch(std::shared_ptr<RedisCommands> commands, RedisKeys keys,
                             EpochSource epochs);

}  // namespace festa::lock
