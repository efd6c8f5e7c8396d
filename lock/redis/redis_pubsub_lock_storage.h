// A lock on Redis that is handed on inside a process first, and between processes by message.
#pragma once

#include "lock/redis/redis_line.h"
#include "lock/waiter.h"

#include <map>
#include <mutex>
#include <unordered_map>

namespace festa::lock {

// One line per key in this process, FIFO; only its head has a place in the server's line, so a
// thousand waiters here are one waiter there. A hold given back goes to the next waiter of this
// process in the same command, with a new owner and a new fence; after kInARow of those while
// another process waits, that one is first.
//
// Commands: lock and unlock uncontended are one each; a hand-off inside the process is one, between
// processes two. Waiters of one key should ask for the same lease: a place in line keeps the
// lease of the waiter it was taken for. Order across processes is that of their heads.
class RedisPubSubLockStorage : public LockStorage, private PlaceListener {
 public:
  static constexpr int kInARow = 16;

  // Who outlives whom: see RedisLine.
  RedisPubSubLockStorage(RedisCommands& commands, RedisKeys keys, EpochSource& epochs,
                         const LineSurroundings& around);

  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override;
  drogon::Task<bool> extend(Lease& lease, Extension extension) override;
  drogon::Task<Unlocked> unlock(Lease lease) override;
  void close() override;

  std::size_t waiters() const;
  std::uint64_t offersMissed() const { return line_.offersMissed(); }

 private:
  struct Local {
    struct InLine {
      Waiter* waiter;
      Millis lease;
    };
    std::map<WaiterId, InLine> line;  // by arrival
    bool asking = false;              // the head's place on the server is taken or being taken
    std::optional<WaiterId> place;    // its id, to give it up again
    std::string owner;                // of the hold of this process; empty: none that we know of
    SteadyTime heldUntil;
    bool watched = false;  // a timer looks after that hold
    int inARow = 0;        // hand-offs here while another process waited
  };
  using Locals = std::unordered_map<LockKey, Local>;

  bool isKnownHere(const LockKey& key) const;
  void stand(const LockRequest& request, Waiter& waiter);
  void timeOut(const LockKey& key, WaiterId id);
  void askServer(const LockKey& key, Millis lease);
  void placeEnded(const LockKey& key, PlaceEnd end) override;
  void granted(const LockKey& key, Lease lease);
  void failed(const LockKey& key, const std::exception_ptr& error);
  drogon::AsyncTask giveBackUnused(Lease lease);
  std::optional<LeaveCommand> nameSuccessor(const Lease& lease);
  void countHandOff(const LeaveCommand& leave, bool others);
  void watchHolder(const LockKey& key, Local& local);
  void onHolderTimer(const LockKey& key);

  RedisLine line_;
  trantor::EventLoop* const timers_;
  const LockTableLimits limits_;

  mutable std::mutex mutex_;
  // guarded by mutex_
  Locals locals_;  // keys that requests wait for here, or that one which waited holds
  WaiterId lastWaiter_ = 0;
  std::size_t waiters_ = 0;
  bool closed_ = false;
};

}  // namespace festa::lock
