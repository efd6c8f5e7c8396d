// A lock on a majority of independent Redis nodes.
#pragma once

#include "lock/engine/spin.h"
#include "lock/redis/redlock/redlock_round.h"

#include <atomic>
#include <deque>
#include <vector>

namespace festa::lock {

struct RedlockSettings {
  Millis nodeTimeout{50};       // a node that has not answered by then has failed
  Millis longestLease{10'000};  // also the quarantine of a restarted node
  int maxExtensions = 100;      // of the time of one hold
  SpinSettings spin = {};
};

// Excludes across processes while a majority of the nodes lives and remembers: a minority may be
// dead, slow, or refuse, and costs nothing. All nodes are asked at once, twice: for the key, then
// for the token, which is the largest number the granting nodes handed out and is taken on a
// majority, so that it is above all earlier ones and no other owner's. An attempt that fails gives
// back what it may hold everywhere. No order among waiters.
//
// A majority that does not answer, or has no vote, is LockStorageUnavailable, for waiters too.
class RedlockLockStorage : public LockStorage {
 public:
  static constexpr const char* kName = "redlock";

  // One node for each server. Throws std::invalid_argument unless their number is odd and at least
  // three. The servers and `epochs` outlive the storage. The storage outlives the event loops on
  // which it is used: late replies of nodes come, and are taken back, when the request is over.
  RedlockLockStorage(const std::vector<const RedisClientSource*>& servers, const RedlockKeys& keys,
                     EpochSource& epochs, RedlockSettings settings);

  // Both throw std::invalid_argument for more than the longest lease.
  drogon::Task<std::optional<Lease>> tryLock(LockRequest request) override;
  drogon::Task<bool> extend(Lease& lease, Extension extension) override;

  drogon::Task<Unlocked> unlock(Lease lease) override;
  void close() override { spin_.close(); }

  // A majority of the nodes answers.
  drogon::Task<bool> answers();

 private:
  using Round = RedlockRound;
  struct Settled {
    Round round;             // the last one
    std::int64_t token = 0;  // 0: not taken on a majority
  };

  template <class Question>
  Round ask(const Question& question, Round::Until until);
  drogon::Task<std::optional<Lease>> attempt(LockRequest request);
  drogon::Task<Settled> settle(Round granted, LockKey key, std::string owner);
  void requireShortEnough(Millis lease) const;

  std::deque<RedlockNode> nodes_;  // not changed after construction
  const RedlockSettings settings_;
  const std::string ownerPrefix_;
  std::atomic<std::uint64_t> acquisitions_{0};
  Spin spin_;
};

}  // namespace festa::lock
