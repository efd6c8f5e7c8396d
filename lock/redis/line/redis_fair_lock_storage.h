// A lock on Redis in strict order of arrival, across processes.
#pragma once

#include "lock/redis/line/redis_line.h"

namespace festa::lock {

// Every waiter has its own place in the server's line; a holder that gives the key back hands it to
// the first of them directly. No waiter asks twice or overtakes another. A process that misses an
// offer (it is frozen or dead) loses its places in one step and takes new ones at the end when it
// wakes.
//
// While a hold is young, up to seven more of the same process who are next in line follow each
// other under it without the server, each with its own fence and seven eighths of its lease at
// least.
//
// A process whose messages arrive is granted a key by message (leases of 2 to 5 s, no neighbour of
// the process directly behind). If it is dead, that costs the others the lease.
//
// Commands: lock and unlock are one each at most, contended or not; an offer to another process
// adds its confirmation. Besides that four beats per process and second while it has waiters.
class RedisFairLockStorage : public LockStorage {
 public:
  static constexpr const char* kName = "redis-fair";

  // Who outlives whom: see RedisLine.
  RedisFairLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                       const LineSurroundings& around)
      : line_(LinePolicy::kPlacePerWaiter, commands, std::move(keys), epochs, around) {}

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override {
    return line_.take(std::move(request));
  }
  drogon::Task<bool> extend(Lease& lease, Extension extension) override {
    return line_.extend(lease, extension);
  }
  drogon::Task<Unlocked> unlock(Lease lease) override { return line_.giveBack(std::move(lease)); }
  void close() override { line_.close(); }

  std::uint64_t offersMissed() const { return line_.offersMissed(); }

 private:
  RedisLine line_;
};

}  // namespace festa::lock
