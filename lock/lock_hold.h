// What a request that passed the lock middleware carries to its handler.
#pragma once

#include "lock/lock_storage.h"

#include <drogon/HttpRequest.h>

#include <memory>
#include <string>

namespace festa::lock {

// One row of the strategy table as the middleware sees it. Without a storage no lock is taken: the
// strategy then works inside the transaction, or is no protection at all.
struct Strategy {
  std::string name;
  std::shared_ptr<LockStorage> storage = nullptr;
};

// How one request is to be protected.
struct Plan {
  Strategy strategy;
  bool backstop = true;  // fences and constraints on top of the strategy; off only in the lab
};

// Lives in the request's attributes while the handler runs; used by that request's coroutine only.
class LockHold {
 public:
  LockHold(Plan plan, LockKey key) : plan_(std::move(plan)), key_(std::move(key)) {}

  const Plan& plan() const { return plan_; }
  const LockKey& key() const { return key_; }
  const std::optional<Lease>& lease() const {
    return lease_;
  }  // nullopt: the strategy takes no lock

  // A token above the given one under the same hold; nullopt: the hold is lost.
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above);

  // Nobody knows whether the handler's COMMIT happened: the key must not be given to a successor
  // before the lease ends.
  void leaveToExpire() { leftToExpire_ = true; }
  bool leftToExpire() const { return leftToExpire_; }

  // Gives the key back now, whatever the handler still does. Wrong by design: the control that
  // proves a test can see.
  drogon::Task<> releaseEarly();

  // For the middleware.
  void grant(Lease lease) { lease_ = std::move(lease); }
  drogon::Task<Unlocked> release();

 private:
  const Plan plan_;
  const LockKey key_;
  std::optional<Lease> lease_;
  bool leftToExpire_ = false;
  bool released_ = false;
};

// The hold of this request, or nullptr when its route has no lock middleware.
std::shared_ptr<LockHold> holdOf(const drogon::HttpRequestPtr& request);
void attachHold(const drogon::HttpRequestPtr& request, std::shared_ptr<LockHold> hold);

}  // namespace festa::lock
