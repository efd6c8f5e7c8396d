// What the lock filter tells the outside about each request it handled.
#pragma once

#include "lock/lock_storage.h"

#include <drogon/HttpRequest.h>

namespace festa::lock {

enum class LockOutcome {
  kUnlocked,        // the strategy takes no lock; the handler ran
  kReleased,        // granted, ran, given back
  kLost,            // granted, ran, but the lease was over before the unlock
  kReleaseUnknown,  // granted, ran, the storage did not confirm the unlock
  kLeftToExpire,    // granted, ran, COMMIT unknown
  kBusy,            // fail-fast: another owner holds it
  kTimedOut,        // waited in vain
  kOverloaded,      // too many in flight or in line
  kClosed,          // the process is stopping
  kUnavailable,     // the storage is broken
};

const char* nameOf(LockOutcome outcome);

struct LockRecord {
  const std::string& lockable;
  const std::string& strategy;
  const LockKey& key;
  LockOutcome outcome;
  SteadyClock::duration wait{};
  SteadyClock::duration hold{};
  std::int64_t fence = 0;  // the hold's last token; 0: none
  // When the handler could rely on the hold: until the unlock was sent, or the lease was over.
  SteadyTime granted{};
  SteadyTime ended{};
  SteadyTime received{};    // see Lease; with a grant only
  std::string holdId = {};  // of members of a shared hold, the same for all of them; else empty
};

// What became of an attempt to renew a lease while the handler runs.
enum class RenewalOutcome {
  kRenewed,
  kFailed,  // the storage did not answer; tried again while the lease lasts
  kLost,    // the hold is gone, or was not renewed before the lease ended
  kOver,    // given back or left to expire meanwhile: the answer does not matter any more
};

const char* nameOf(RenewalOutcome outcome);

// Called on the request's loop. Must not throw or block.
class LockObserver {
 public:
  virtual ~LockObserver() = default;
  // Once per request.
  virtual void finished(const drogon::HttpRequestPtr& request, const LockRecord& record) = 0;
  virtual void renewed(const std::string& lockable, const std::string& strategy,
                       RenewalOutcome outcome) = 0;
};

}  // namespace festa::lock
