#include "lock/redis/redis_fair_lock_storage.h"

namespace festa::lock {

drogon::Task<std::optional<Lease>> RedisFairLockStorage::tryLock(LockRequest request) {
  return line_.take(std::move(request));
}

drogon::Task<bool> RedisFairLockStorage::extend(Lease& lease, Extension extension) {
  return line_.extend(lease, extension);
}

drogon::Task<Unlocked> RedisFairLockStorage::unlock(Lease lease) {
  const auto left = co_await line_.giveBack(std::move(lease));
  co_return left.unlocked;
}

}  // namespace festa::lock
