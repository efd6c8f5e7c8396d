// A lock on Redis in strict order of arrival, across processes.
#pragma once

#include "lock/redis/redis_line.h"

namespace festa::lock {

// Every waiter has its own place in the server's line; whoever gives the key back hands it to the
// first of them directly. Nobody asks twice, nobody overtakes. A process that misses an offer (it
// is frozen or dead) loses its places in one step and takes new ones at the end when it wakes.
//
// While a hold is young, up to seven more of the same process who are next in line follow each
// other under it without the server, each with its own fence and seven eighths of its lease at
// least.
//
// Commands: lock and unlock are one each at most, contended or not; an offer to another process
// adds its confirmation. Besides that one beat per process and half second while somebody waits.
class RedisFairLockStorage : public LockStorage {
 public:
  // Who outlives whom: see RedisLine.
  RedisFairLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                       const LineSurroundings& around)
      : line_(commands, std::move(keys), epochs, around) {}

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override;
  drogon::Task<bool> extend(Lease& lease, Extension extension) override;
  drogon::Task<Unlocked> unlock(Lease lease) override;
  void close() override { line_.close(); }

  std::uint64_t offersMissed() const { return line_.offersMissed(); }

 private:
  RedisLine line_;
};

}  // namespace festa::lock
