// The holds of one Redis server: taken, changed and given back in one atomic step each.
#pragma once

#include "lock/redis/redis_epoch.h"
#include "lock/redis/redis_keys.h"
#include "lock/waiter.h"

#include <mutex>

namespace festa::lock {

// What all storages on a single Redis server share. Thread-safe.
//
// A hold is a key with the owner as its value and the lease as its expiry: no clock of a client
// goes into it. Tokens come from one counter of the server; when that is missing (flush, restart)
// or was started on another server (failover to a replica), a new epoch is drawn first, so tokens
// never go back. A change of servers is suspected after a lost reply and when the server does not
// know our scripts; replicas do not.
class RedisHolds : private RedisCommands::Introduction {
 public:
  // `commands` and `epochs` outlive this, and this the event loops on which it is used.
  RedisHolds(RedisCommands& commands, RedisKeys keys, EpochSource& epochs);

  // One attempt; nullopt: somebody else holds it. `owner` is new for every request, not for every
  // attempt. After LockStorageUnavailable the hold may exist: see abandon().
  drogon::Task<std::optional<Lease>> take(LockKey key, std::string owner, Millis lease);
  drogon::Task<bool> extend(Lease& lease, Extension extension);
  drogon::Task<Unlocked> giveBack(Lease lease);

  // After a lost reply of take(): gives back whatever this owner may hold, again and again until
  // the server has confirmed or the lease is over. Runs by itself on `loop`.
  void abandon(trantor::EventLoop* loop, LockKey key, std::string owner, Millis lease);

  // RedisCommands::run, on a server whose counter can be trusted.
  drogon::Task<RedisReply> run(const RedisScript& script, std::vector<std::string> keys,
                               std::vector<std::string> arguments);

  // The server has lost its fence counter, or has not reached `floor`: tokens go on above all
  // earlier ones. Many who find that at once draw one epoch together. They return when that has
  // ended, well or badly, and ask the server again.
  drogon::Task<> startNewEpoch(std::int64_t floor = 0);

 private:
  drogon::Task<> introduce() override { return requireHome(); }
  drogon::Task<> requireHome();
  drogon::AsyncTask giveBackUntil(std::string hold, std::string owner, SteadyTime until);

  RedisCommands& commands_;
  const RedisKeys keys_;
  EpochSource& epochs_;
  std::atomic<std::uint64_t> trustedAt_{0};  // losses of commands_ when the server was last checked

  std::mutex mutex_;
  // guarded by mutex_
  bool drawing_ = false;
  std::vector<Waiter*> waitForEpoch_;
};

}  // namespace festa::lock
