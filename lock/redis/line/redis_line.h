// Locks on one Redis server that are handed on in lines, as one process stands in them.
#pragma once

#include "lock/engine/waiter.h"
#include "lock/redis/line/line_client.h"
#include "lock/redis/line/line_transport.h"
#include "lock/redis/redis_holds.h"

#include <drogon/nosql/RedisSubscriber.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace festa::lock {

struct LineSurroundings {
  trantor::EventLoop* timers;         // no holder blocks it, and Redis commands may be sent on it
  const RedisClientSource& messages;  // whose client of `timers` is subscribed; outlives the line
  LockTableLimits limits = {};
};

// The storage of both policies; LinePolicy says what each of them promises. Carries the decisions
// of a LineClient out: commands to the server, messages from it, time. Thread-safe. `commands`,
// `epochs` and what surrounds it outlive it; it outlives the event loops on which it is used,
// because timers, replies and messages refer to it.
//
// One subscription per process, made when the first waiter stands in line. While it has no waiters,
// and no ticket of a failed waiter is left on the server, nothing is sent.
class RedisLine : public LockStorage, private AnswerListener {
 public:
  RedisLine(LinePolicy policy, RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
            const LineSurroundings& around);

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override;
  drogon::Task<bool> extend(Lease& lease, Extension extension) override;
  drogon::Task<Unlocked> unlock(Lease lease) override;
  void close() override;

  std::size_t waiters() const;
  // Offers that came too late for their receiver here.
  std::uint64_t offersMissed() const;

 private:
  WaiterId arrive(const LockRequest& request, Waiter& waiter);
  bool cancel(WaiterId id);
  // Lets client_ decide something and carries out what follows from it.
  template <class Decision>
  void decide(Decision decision);
  void failAll(bool quits, std::exception_ptr (*error)());
  void transmit(LineCommand command);

  void answered(const std::vector<LineCommand>& commands, const LineAnswer& answer) override;

  void listen();
  void subscribe();
  void hear(const std::string& text);
  void armTimer();
  void onTimer(SteadyTime armedFor);

  RedisCommands& commands_;
  const RedisKeys keys_;
  FencedServer server_;
  RedisHolds holds_;
  const std::string process_;
  const LineSurroundings around_;
  LineTransport transport_;
  std::once_flag listening_;
  std::shared_ptr<drogon::nosql::RedisSubscriber> subscriber_;

  mutable std::mutex mutex_;
  // guarded by mutex_
  LineClient client_;
  std::unordered_map<WaiterId, Waiter*> waiting_;  // those of client_
  SteadyTime armedFor_ = SteadyTime::max();
  bool closed_ = false;
};

// A lock in strict order of arrival, across processes.
class RedisFairLockStorage : public RedisLine {
 public:
  static constexpr const char* kName = "redis-fair";

  RedisFairLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                       const LineSurroundings& around)
      : RedisLine(LinePolicy::kPlacePerWaiter, commands, std::move(keys), epochs, around) {}
};

// A lock that is handed on inside a process first, and between processes by message.
class RedisPubSubLockStorage : public RedisLine {
 public:
  static constexpr const char* kName = "redis-pubsub";

  RedisPubSubLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                         const LineSurroundings& around)
      : RedisLine(LinePolicy::kPlacePerKey, commands, std::move(keys), epochs, around) {}
};

}  // namespace festa::lock
