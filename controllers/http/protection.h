// How the write of one request is protected.
#pragma once

#include "lock/lock_hold.h"
#include "lock/lockable.h"
#include "services/write/write_context.h"

#include <drogon/HttpRequest.h>

#include <chrono>
#include <memory>

namespace festa {

class ClaimQueue;

struct Protection {
  lock::Strategy lock;          // taken before the transaction; without a storage, none is
  Guard inside = Guard::kNone;  // what happens inside the transaction
  ClaimQueue* queue = nullptr;  // set: the write waits there, and no lock is taken
  std::chrono::milliseconds longestLockWait{5000};  // of guards that wait inside the database
};

// A lock's hold as the services see it.
class HeldLock : public LockHandle {
 public:
  // `hold` outlives this.
  explicit HeldLock(lock::LockHold& hold) : hold_(hold) {}

  SteadyTime validUntil() const override { return hold_.validUntil(); }
  drogon::Task<std::optional<std::int64_t>> renewFence(std::int64_t above) override {
    return hold_.renewFence(above);
  }
  void leaveToExpire() override { hold_.leaveToExpire(); }
  bool isShared() const override { return hold_.company() != nullptr; }
  void finishOthers() override { hold_.finishOthers(); }
  void dismiss() override { hold_.dismiss(); }

 private:
  drogon::Task<std::vector<void*>> gatherUntyped(void* work) override {
    return hold_.gatherUntyped(work);
  }

  lock::LockHold& hold_;
};

// What the services get of it. `held` is the services' view of `hold`; the guard refers to it when
// the strategy takes a lock.
WriteGuard guardFor(const Protection& protection, const lock::LockHold& hold, HeldLock& held);

// Thread-safe; outlives all requests.
class Protections {
 public:
  virtual ~Protections() = default;

  // The lock as configuration has it.
  virtual lock::Lockable configured(lock::Lockable lockable) const = 0;

  // Throws ServiceError when a header asks for a protection that is not allowed.
  virtual Protection of(const drogon::HttpRequestPtr& request,
                        const lock::Lockable& lockable) const = 0;

  // What the services get for a request under this hold.
  virtual WriteGuard guard(const Protection& protection, const lock::LockHold& hold,
                           HeldLock& held) const {
    return guardFor(protection, hold, held);
  }

  // The observer of the writes of a request under this hold.
  virtual std::unique_ptr<WriteObserver> observe(const drogon::HttpRequestPtr& request,
                                                 lock::LockHold& hold) const = 0;
};

}  // namespace festa
