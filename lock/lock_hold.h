// What a request holds while its work runs under the lock filter.
#pragma once

#include "lock/lock_observer.h"
#include "lock/lock_storage.h"

#include <memory>
#include <mutex>
#include <string>

namespace festa::lock {

// One row of the strategy table as the filter sees it. Without a storage no lock is taken: the
// strategy then works inside the transaction, or is no protection at all.
struct Strategy {
  std::string name;
  LockStorage* storage = nullptr;  // outlives all holds
};

// Used by the request's coroutine and by its watchdog, whose renewal may end after the request:
// shared by these two.
// Thread-safe: the work may have been resumed on another thread.
class LockHold : public std::enable_shared_from_this<LockHold> {
 public:
  LockHold(std::string lockable, Strategy strategy, LockKey key)
      : lockable_(std::move(lockable)), strategy_(std::move(strategy)), key_(std::move(key)) {}

  const std::string& lockable() const { return lockable_; }  // its name
  const Strategy& strategy() const { return strategy_; }
  const LockKey& key() const { return key_; }
  // As it is now; nullopt: the strategy takes no lock.
  std::optional<Lease> lease() const;

  // When the hold ends as far as is known now: later after a renewal, long ago once it is lost.
  SteadyTime validUntil() const;

  // A token above the given one under the same hold; nullopt: the hold is lost.
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above);

  // A lease counted from now. Does not throw. Lost is for ever, and so is a lease that ended before
  // the answer came.
  drogon::Task<RenewalOutcome> renewLease(Millis lease);

  // Whether the key is held together with others.
  bool isShared() const;
  // Waits for the other members of a shared hold, see Company::gather(); the caller that gets parts
  // calls dismiss() when it has done the work of all. A hold of its own gets its part at once. At
  // most one call per hold.
  drogon::Task<std::vector<Company::Part*>> gather(Company::Part& part);
  void dismiss();
  // All that the key was needed for is acknowledged: gives it back before the work is over. Does
  // not wait for a storage that answers late. On an event loop's thread.
  void finish();

  // It is unknown whether the handler's COMMIT happened: the key must not be given to a successor
  // before the lease ends.
  void leaveToExpire();
  bool leftToExpire() const;

  // For the filter.
  void grant(Lease lease);
  // The work is over: the other members do not wait for this one.
  void leaveCompany();
  // Once: later calls return the same, or kReleased while that is not known.
  drogon::Task<Unlocked> release();
  // Until when the work relied, or relies now, on the hold.
  SteadyTime reliedUntil() const;

 private:
  enum class State {
    kFree,     // not granted, or the strategy takes no lock
    kHeld,     // may be renewed
    kLost,     // the storage said so, or the lease ended before it was renewed
    kLeft,     // left to expire
    kReleased  // unlock has been asked for
  };

  std::optional<Lease> held() const;
  std::optional<Lease> takeForRelease();
  void lose();
  RenewalOutcome settle(const Lease& renewed, std::optional<bool> extended);

  const std::string lockable_;
  const Strategy strategy_;
  const LockKey key_;
  mutable std::mutex mutex_;
  // guarded by mutex_
  std::optional<Lease> lease_;
  State state_ = State::kFree;
  std::optional<SteadyTime> finishedAt_;
  Unlocked unlocked_ = Unlocked::kReleased;
};

}  // namespace festa::lock
