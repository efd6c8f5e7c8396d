#include "controllers/http/protection.h"

namespace festa {

WriteGuard guardFor(const Protection& protection, const lock::LockHold& hold, Hold& held) {
  WriteGuard guard;
  guard.inside = protection.inside;
  guard.key = hold.key();
  guard.lockWait = protection.longestLockWait;
  const auto lease = hold.lease();
  if (!lease) return guard;
  guard.hold = &held;
  guard.fence = lease->fence;
  return guard;
}

}  // namespace festa
