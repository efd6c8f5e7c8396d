// What a request holds while its work runs under the lock filter.
#pragma once

#include "lock/lock_observer.h"
#include "lock/lockable.h"

#include <memory>
#include <mutex>
#include <string>

namespace festa::lock {

// Owns the lease of one request: lends it to the storage to be extended, and gives it away when the
// key is given back. Used by the request's coroutine and by its watchdog, whose renewal may end
// after the request: shared by these two. Thread-safe: the work may have been resumed on another
// thread.
class LockHold : public std::enable_shared_from_this<LockHold> {
 public:
  LockHold(std::string lockable, Strategy strategy, LockKey key)
      : lockable_(std::move(lockable)), strategy_(std::move(strategy)), key_(std::move(key)) {}

  const std::string& lockable() const { return lockable_; }  // its name
  const Strategy& strategy() const { return strategy_; }
  const LockKey& key() const { return key_; }
  // Whether the strategy takes a lock.
  bool isGranted() const { return isGranted_; }
  // The token as it is now, or was at last; nullopt: the strategy takes no lock.
  std::optional<std::int64_t> fence() const;
  // When the hold ends as far as is known now: later after a renewal, long ago once it is lost.
  SteadyTime validUntil() const;

  // A token above the given one under the same hold; nullopt: the hold is lost.
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above);

  // A lease counted from now. Does not throw. Lost is for ever, and so is a lease that ended before
  // the answer came.
  drogon::Task<RenewalOutcome> renewLease(Millis lease);

  // Where those meet that hold the key together; nullptr: it is held alone.
  const Company* company() const { return company_.get(); }
  std::size_t ordinal() const { return ordinal_; }  // the place in the company
  // Waits for the other members of a shared hold, see Company::gather(); the caller that gets a
  // list calls dismiss() when it has done the work of all. A hold of its own gets its own work at
  // once. At most one call per hold. All handlers of one Lockable bring the same type.
  template <class Work>
  drogon::Task<std::vector<Work*>> gather(Work& mine) {
    const auto all = co_await gatherUntyped(&mine);
    std::vector<Work*> works;
    for (void* const work : all) works.push_back(static_cast<Work*>(work));
    co_return works;
  }
  drogon::Task<std::vector<void*>> gatherUntyped(void* work);
  void finishOthers() const;  // see Company
  void dismiss() const;
  // All that the key was needed for is acknowledged: gives it back before the work is over. Does
  // not wait for a storage that answers late. On an event loop's thread.
  void finish();

  // It is unknown whether the handler's COMMIT happened: the key must not be given to a successor
  // before the lease ends.
  void leaveToExpire();
  bool leftToExpire() const;

  // For the filter.
  // Before the work begins.
  void grant(Lease lease);
  SteadyTime received() const { return received_; }  // see Lease
  // The work is over: the other members do not wait for this one.
  void leaveCompany() const;
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

  std::optional<Lease> toExtend() const;
  std::optional<Lease> takeForRelease();
  void lose();
  RenewalOutcome settle(const Lease& renewed, std::optional<bool> extended);

  const std::string lockable_;
  const Strategy strategy_;
  const LockKey key_;
  // set by grant(), constant while the work runs
  bool isGranted_ = false;
  SteadyTime received_;
  std::shared_ptr<Company> company_;
  std::size_t ordinal_ = 0;
  mutable std::mutex mutex_;
  // guarded by mutex_
  Lease lease_;  // given away in kReleased: only its fence and its time are read then
  State state_ = State::kFree;
  std::optional<SteadyTime> finishedAt_;
  Unlocked unlocked_ = Unlocked::kReleased;
};

}  // namespace festa::lock
