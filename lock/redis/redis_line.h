// The lines for locks on one Redis server, as one process stands in them.
#pragma once

#include "lock/redis/line_client.h"
#include "lock/redis/line_transport.h"

#include <drogon/nosql/RedisSubscriber.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace festa::lock {

// How a place in line ended: a lease, neither (busy), or an error.
struct PlaceEnd {
  std::optional<Lease> lease = {};
  std::exception_ptr error = {};
};

// Who took a place in line.
class PlaceListener {
 public:
  // Called once for each place that was not cancelled, on any loop's thread, outside all locks.
  virtual void placeEnded(const LockKey& key, PlaceEnd end) = 0;

 protected:
  ~PlaceListener() = default;
};

struct LineSurroundings {
  trantor::EventLoop* timers;         // no holder blocks it, and Redis commands may be sent on it
  const RedisClientSource& messages;  // whose client of `timers` is subscribed; outlives the line
  LockTableLimits limits = {};
};

// Carries the decisions of a LineClient out: commands to the server, messages from it, time.
// Thread-safe. `commands`, `epochs` and what surrounds it outlive it; it outlives the event loops
// on which it is used, because timers, replies and messages refer to it.
//
// One subscription per process, made when the first waiter stands in line. While nobody waits, and
// no ticket of a failed waiter is left on the server, nothing is sent.
class RedisLine : private AnswerListener {
 public:
  RedisLine(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
            const LineSurroundings& around);

  // The whole of a LockStorage::tryLock, in order of arrival.
  drogon::Task<std::optional<Lease>> take(LockRequest request);

  // Throws LockClosed, LockQueueFull. Not queueing: the key at once, or busy. The listener lives
  // until it was called or its place was cancelled.
  WaiterId arrive(const LockKey& key, Millis lease, bool queue, PlaceListener& listener);
  // False: its listener has been called or is about to be.
  bool cancel(WaiterId waiter);

  drogon::Task<bool> extend(Lease& lease, Extension extension);

  struct Left {
    Unlocked unlocked = Unlocked::kUnknown;
    bool others = false;  // somebody was in line
  };
  drogon::Task<Left> giveBack(Lease lease);

  // Gives the hold back with a successor of this process, see LeaveCommand.
  struct Succession {
    WaiterId successor;
    LeaveCommand leave;
  };
  Succession nameSuccessor(const Lease& lease, Millis nextLease, bool keep,
                           PlaceListener& listener);
  drogon::Task<Left> handOver(LeaveCommand leave);

  // Fails all waiters and later arrivals with LockClosed.
  void close();

  std::size_t waiters() const;
  // Offers that came too late for their receiver here.
  std::uint64_t offersMissed() const;

 private:
  struct Place {
    LockKey key;
    PlaceListener* listener;
  };

  // Lets client_ decide something and carries out what follows from it.
  template <class Decision>
  void decide(Decision decision);
  void failAll(bool quits, std::exception_ptr (*error)());
  void transmit(LineCommand command);

  void answered(const std::vector<LineCommand>& commands, const LineAnswer& answer) override;

  class Standing;
  void listen();
  void subscribe();
  void hear(const std::string& message);
  void armTimer();
  void onTimer(SteadyTime armedFor);

  RedisCommands& commands_;
  const RedisKeys keys_;
  RedisHolds holds_;
  const std::string process_;
  const LineSurroundings around_;
  LineTransport transport_;
  std::once_flag listening_;
  std::shared_ptr<drogon::nosql::RedisSubscriber> subscriber_;

  mutable std::mutex mutex_;
  // guarded by mutex_
  LineClient client_;
  std::unordered_map<WaiterId, Place> places_;  // of the waiters of client_
  SteadyTime armedFor_ = SteadyTime::max();
  bool closed_ = false;
};

}  // namespace festa::lock
