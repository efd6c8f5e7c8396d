// The holds of one Redis server: taken, changed and given back in one atomic step each.
#pragma once

#include "lock/redis/fenced_server.h"

namespace festa::lock {

// What all storages on a single Redis server share. Thread-safe.
//
// A hold is a key with the owner as its value and the lease as its expiry: no clock of a client
// goes into it.
class RedisHolds {
 public:
  // `server` outlives this, and this the event loops on which it is used.
  RedisHolds(FencedServer& server, RedisKeys keys) : server_(server), keys_(std::move(keys)) {}

  // One attempt; nullopt: another owner holds it. `owner` is new for every request, not for every
  // attempt. After LockStorageUnavailable the hold may exist: see abandon().
  drogon::Task<std::optional<Lease>> take(LockKey key, std::string owner, Millis lease);
  drogon::Task<bool> extend(Lease& lease, Extension extension);
  drogon::Task<Unlocked> giveBack(Lease lease);

  // After a lost reply of take(): gives back what this owner may hold, again and again until the
  // server has confirmed or the lease is over. Runs by itself on the calling loop.
  void abandon(LockKey key, std::string owner, Millis lease);

 private:
  // False: it was not confirmed.
  drogon::Task<bool> isGivenBack(std::string hold, std::string owner);

  FencedServer& server_;
  const RedisKeys keys_;
};

}  // namespace festa::lock
