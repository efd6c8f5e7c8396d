// Where the tokens of a Redis server begin.
#pragma once

#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_keys.h"

#include <string>

namespace festa::lock {

// Where epochs come from: a sequence of the database that checks the fences. Outlives the storages
// that use it. Thread-safe.
class EpochSource {
 public:
  virtual ~EpochSource() = default;

  // A number that is larger at each call, also across restarts of everything. Called on any loop on
  // which the storage is used or on which its timers and messages run; may end on another one.
  // What it throws ends the request that needed the epoch.
  virtual drogon::Task<std::int64_t> draw() = 0;
};

// Starts the server's fence counter in a new epoch and makes it at home on this server. Does
// nothing when the counter is at home and has reached `floor`: another process was quicker. Never
// lowers the counter. Resumes on the loop on which it was awaited. Throws LockStorageUnavailable,
// and what the source throws. `commands` and `epochs` outlive the task.
//
// The server keeps a mark of the loss from before the epoch is drawn until an epoch is installed.
// An epoch is installed only if the mark is the one that was read before the draw. So nothing was
// lost since then, no other epoch was installed, and no token above the epoch was given out: a
// server that loses its counter a second time loses the mark, too. Processes that find the same
// loss share the mark; the first of them installs, the others find the counter there.
drogon::Task<> startNewEpoch(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                             std::int64_t floor = 0);

// The two steps on the server, one script each.

// The mark of the loss, made from `nonce` if there is none. Empty: no epoch is needed, see `floor`
// above. Each caller has another nonce.
drogon::Task<std::string> markLoss(RedisCommands& commands, RedisKeys keys, std::string nonce,
                                   std::int64_t floor);
// False: the mark is gone, and nothing was changed.
drogon::Task<bool> installEpoch(RedisCommands& commands, RedisKeys keys, std::string mark,
                                std::int64_t epoch);

}  // namespace festa::lock
