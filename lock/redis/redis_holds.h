// The holds of one Redis server: taken, changed and given back in one atomic step each.
#pragma once

#include "lock/redis/redis_commands.h"
#include "lock/redis/redis_keys.h"

#include <memory>

namespace festa::lock {

// A number that is larger at each call, also across restarts of everything: a sequence of the
// database that checks the fences.
using EpochSource = std::function<drogon::Task<std::int64_t>()>;

// What all storages on a single Redis server share. Thread-safe.
//
// A hold is a key with the owner as its value and the lease as its expiry: no clock of a client
// goes into it. Tokens come from one counter of the server; when that is missing (flush, restart,
// failover to an empty node) a new epoch is drawn first, so tokens never go back.
class RedisHolds {
 public:
  RedisHolds(std::shared_ptr<RedisCommands> commands, RedisKeys keys, EpochSource epochs);

  // One attempt; nullopt: somebody else holds it. `owner` is new for every request, not for every
  // attempt. After LockStorageUnavailable the hold may exist: see abandon().
  drogon::Task<std::optional<Lease>> take(LockKey key, std::string owner, Millis lease);
  drogon::Task<bool> extend(Lease& lease, Extension extension);
  drogon::Task<Unlocked> giveBack(Lease lease);

  // After a lost reply of take(): gives back whatever this owner may hold, again and again until
  // the server has confirmed or the lease is over. Runs by itself on `loop`.
  void abandon(trantor::EventLoop* loop, LockKey key, std::string owner, Millis lease);

 private:
  drogon::Task<> startNewEpoch();
  static drogon::AsyncTask giveBackUntil(std::shared_ptr<RedisCommands> commands, std::string hold,
                                         std::string owner, SteadyTime until);

  const std::shared_ptr<RedisCommands> commands_;
  const RedisKeys keys_;
  const EpochSource epochs_;
};

}  // namespace festa::lock
