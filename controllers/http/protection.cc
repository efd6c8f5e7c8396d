#include "controllers/http/protection.h"

namespace festa {

WriteGuard guardFor(const Protection& protection, const lock::LockHold& hold, HeldLock& held) {
  WriteGuard guard;
  guard.inside = protection.inside;
  guard.key = hold.key();
  guard.lockWait = protection.longestLockWait;
  if (!hold.isGranted()) return guard;
  guard.hold = &held;
  guard.fence = hold.fence();
  return guard;
}

}  // namespace festa
