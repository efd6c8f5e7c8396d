// What requests of the lab may ask for: another strategy, no backstop, a fault before COMMIT.
#pragma once

#include "app/lab/lab_pauses.h"
#include "app/lab/lab_times.h"
#include "app/strategies/strategies.h"
#include "controllers/http/protection.h"

#include <chrono>
#include <map>
#include <optional>

namespace festa {

inline constexpr std::chrono::milliseconds kLongestLabPause{60'000};

struct LabFault {
  enum class Kind {
    kRelease,      // the lock is given back, then COMMIT follows
    kThrow,        // a std::exception
    kThrowNumber,  // what Drogon and the standard library do not expect
    kPause,        // for `time`
  };
  Kind kind;
  std::chrono::milliseconds time{0};
};

// Reads an X-Lab-Fault header: `release-before-commit`, `throw-before-commit`,
// `throw-number-before-commit` or `pause-before-commit=<ms>`, up to kLongestLabPause; nullopt when
// it is empty. Throws ServiceError(kInvalidParameter).
std::optional<LabFault> labFaultOf(const std::string& text);

// A strategy alone, or with fences, constraints and the view of sold seats behind it.
enum class Backstop { kOn, kOff };

// What the request says in X-Backstop. When it says nothing, X-Concurrency means the strategy
// alone. nullopt: the value is unknown.
std::optional<Backstop> backstopOf(const drogon::HttpRequest& request);

// Grants every request a hold of its own: a broken lock would hide in a shared one, and a request
// with a fault must not keep those waiting that hold the key with it.
class UnsharedStorage : public lock::LockStorage {
 public:
  // `inner` outlives this.
  explicit UnsharedStorage(lock::LockStorage& inner) : inner_(inner) {}

  drogon::Task<std::optional<lock::Lease>> tryLock(lock::LockRequest request) override {
    request.together = 1;
    return inner_.tryLock(std::move(request));
  }
  drogon::Task<bool> extend(lock::Lease& lease, lock::Extension extension) override {
    return inner_.extend(lease, extension);
  }
  drogon::Task<lock::Unlocked> unlock(lock::Lease lease) override {
    return inner_.unlock(std::move(lease));
  }
  void close() override { inner_.close(); }

 private:
  lock::LockStorage& inner_;
};

// Decorates the configured protections by the headers X-Concurrency and X-Lab-Fault, and has the
// times of requests noted that ask for them. Without a backstop no fence reaches the services.
// Thread-safe; what it is made of outlives it.
class LabProtections : public Protections {
 public:
  LabProtections(const Protections& configured, const Strategies& strategies, LabPauses& pauses,
                 const LabTimekeeper& times, Backstop backstop);

  lock::Lockable configured(lock::Lockable lockable) const override {
    return configured_.configured(std::move(lockable));
  }
  // Throws ServiceError(kInvalidParameter) for what the lab does not know or does not have.
  Protection of(const drogon::HttpRequestPtr& request,
                const lock::Lockable& lockable) const override;
  WriteGuard guard(const Protection& protection, const lock::LockHold& hold,
                   HeldLock& held) const override;
  std::unique_ptr<WriteObserver> observe(const drogon::HttpRequestPtr& request,
                                         lock::LockHold& hold) const override;

 private:
  const Protections& configured_;
  const Strategies& strategies_;
  LabPauses& pauses_;
  const LabTimekeeper& times_;
  const Backstop backstop_;
  std::map<std::string, std::unique_ptr<UnsharedStorage>> unshared_;  // by strategy; filled once
};

}  // namespace festa
