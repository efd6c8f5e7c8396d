#include "lock/redis/redis_spin_lock_storage.h"

#include "lock/engine/owner_id.h"

namespace festa::lock {

RedisSpinLockStorage::RedisSpinLockStorage(RedisCommands& commands, RedisKeys keys,
                                           EpochSource& epochs, SpinSettings settings)
    : server_(commands, keys, epochs, FencedServer::Home::kChecked),
      holds_(server_, std::move(keys)),
      ownerPrefix_(randomOwnerPrefix()),
      spin_(settings) {}

drogon::Task<std::optional<Lease>> RedisSpinLockStorage::tryLock(LockRequest request) {
  const auto owner = ownerPrefix_ + std::to_string(++acquisitions_);
  Spin::Wait wait(spin_, request.wait);
  SteadyTime received{};
  while (true) {
    auto lease = co_await attempt(request, owner);
    if (received == SteadyTime{}) received = SteadyClock::now();
    if (lease) lease->received = received;
    if (lease) co_return lease;
    const bool isAgain = co_await wait.pause();
    if (!isAgain) co_return std::nullopt;
  }
}

drogon::Task<std::optional<Lease>> RedisSpinLockStorage::attempt(LockRequest request,
                                                                 std::string owner) {
  std::exception_ptr lost;
  try {
    co_return co_await holds_.take(request.key, owner, request.lease);
  } catch (const RedisIsAway&) {
    throw;  // nothing was sent
  } catch (const LockStorageUnavailable&) {
    lost = std::current_exception();
  }
  // The reply is lost, not necessarily the command.
  holds_.abandon(request.key, owner, request.lease);
  std::rethrow_exception(lost);
}

drogon::Task<bool> RedisSpinLockStorage::extend(Lease& lease, Extension extension) {
  return holds_.extend(lease, extension);
}

drogon::Task<Unlocked> RedisSpinLockStorage::unlock(Lease lease) {
  return holds_.giveBack(std::move(lease));
}

}  // namespace festa::lock
