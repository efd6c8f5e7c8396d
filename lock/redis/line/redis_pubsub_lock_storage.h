// A lock on Redis that is handed on inside a process first, and between processes by message.
#pragma once

#include "lock/redis/line/redis_line.h"

namespace festa::lock {

// One line per key in this process, FIFO; only its head has a place in the server's line, so a
// thousand waiters here are one waiter there. A hold goes on inside the process, each time with a
// new owner and a new fence; after kInARow of those while another process waits, that one is first.
//
// While a hold is young, those who are next follow each other under it without the server: its
// command has drawn their fences. Each has seven eighths of its lease at least.
//
// Commands: lock and unlock uncontended are one each; hand-offs inside the process need one for up
// to kInARow, a change of processes two. Waiters of one key should ask for the same lease: a place
// in line keeps the lease of the waiter it was taken for. Order across processes is that of their
// heads.
class RedisPubSubLockStorage : public LockStorage {
 public:
  static constexpr const char* kName = "redis-pubsub";

  // Who outlives whom: see RedisLine.
  RedisPubSubLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                         const LineSurroundings& around)
      : line_(LinePolicy::kPlacePerKey, commands, std::move(keys), epochs, around) {}

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override {
    return line_.take(std::move(request));
  }
  drogon::Task<bool> extend(Lease& lease, Extension extension) override {
    return line_.extend(lease, extension);
  }
  drogon::Task<Unlocked> unlock(Lease lease) override { return line_.giveBack(std::move(lease)); }
  void close() override { line_.close(); }

  std::size_t waiters() const { return line_.waiters(); }
  std::uint64_t offersMissed() const { return line_.offersMissed(); }

 private:
  RedisLine line_;
};

}  // namespace festa::lock
