#include "tests/guest/guest_lock_storage.h"

namespace festa::test {

drogon::Task<std::optional<lock::Lease>> GuestLockStorage::tryLock(lock::LockRequest request) {
  return inner_->tryLock(std::move(request));
}

drogon::Task<bool> GuestLockStorage::extend(lock::Lease& lease, lock::Extension extension) {
  return inner_->extend(lease, extension);
}

drogon::Task<lock::Unlocked> GuestLockStorage::unlock(lock::Lease lease) {
  return inner_->unlock(std::move(lease));
}

}  // namespace festa::test
