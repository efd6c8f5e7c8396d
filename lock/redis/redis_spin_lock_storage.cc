#include "lock/redis/redis_spin_lock_storage.h"

#include "lock/backoff.h"
#include "lock/owner_id.h"

#include <trantor/net/EventLoop.h>

#include <random>

namespace festa::lock {

namespace {

std::uint32_t randomBits() {
  thread_local std::mt19937 random{std::random_device{}()};
  return static_cast<std::uint32_t>(random());
}

class Counted {
 public:
  explicit Counted(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<std::size_t>& count_;
};

}  // namespace

RedisSpinLockStorage::RedisSpinLockStorage(std::shared_ptr<RedisHolds> holds, SpinSettings settings)
    : holds_(std::move(holds)), settings_(settings), ownerPrefix_(randomOwnerPrefix()) {}

drogon::Task<std::optional<Lease>> RedisSpinLockStorage::tryLock(LockRequest request) {
  if (closed_) throw LockClosed();
  const auto owner = ownerPrefix_ + std::to_string(++acquisitions_);
  const auto first = co_await attempt(request, owner);
  if (first || request.wait <= Millis{0}) co_return first;
  if (waiters_ >= settings_.maxWaiters) throw LockQueueFull();
  const Counted waiter(waiters_);
  co_return co_await spin(request, owner);
}

drogon::Task<std::optional<Lease>> RedisSpinLockStorage::spin(LockRequest request,
                                                              std::string owner) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const auto deadline = SteadyClock::now() + request.wait;
  Backoff backoff(settings_.firstPause, settings_.longestPause);
  while (true) {
    const auto pause = backoff.next(randomBits());
    if (SteadyClock::now() + pause >= deadline) co_return std::nullopt;
    co_await drogon::sleepCoro(loop, std::chrono::duration<double>(pause));
    if (closed_) throw LockClosed();
    const auto next = co_await attempt(request, owner);
    if (next) co_return next;
  }
}

drogon::Task<std::optional<Lease>> RedisSpinLockStorage::attempt(const LockRequest& request,
                                                                 const std::string& owner) {
  std::exception_ptr lost;
  try {
    co_return co_await holds_->take(request.key, owner, request.lease);
  } catch (const RedisIsAway&) {
    throw;  // nothing was sent
  } catch (const LockStorageUnavailable&) {
    lost = std::current_exception();
  }
  // The reply is lost, not necessarily the command.
  holds_->abandon(trantor::EventLoop::getEventLoopOfCurrentThread(), request.key, owner,
                  request.lease);
  std::rethrow_exception(lost);
}

drogon::Task<bool> RedisSpinLockStorage::extend(Lease& lease, Extension extension) {
  return holds_->extend(lease, extension);
}

drogon::Task<Unlocked> RedisSpinLockStorage::unlock(Lease lease) {
  return holds_->giveBack(std::move(lease));
}

}  // namespace festa::lock
