#include "lock/memory/memory_lock_storage.h"

#include "lock/engine/owner_id.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>

namespace festa::lock {

namespace {

double seconds(SteadyClock::duration duration) {
  return std::max(0.0, std::chrono::duration<double>(duration).count());
}

}  // namespace

std::shared_ptr<MemoryLockStorage> MemoryLockStorage::create(std::int64_t epoch,
                                                             trantor::EventLoop* timers,
                                                             LockTableLimits limits) {
  return std::shared_ptr<MemoryLockStorage>(new MemoryLockStorage(epoch, timers, limits));
}

MemoryLockStorage::MemoryLockStorage(std::int64_t epoch, trantor::EventLoop* timers,
                                     LockTableLimits limits)
    : timers_(timers), table_(epoch, randomOwnerPrefix(), limits) {}

drogon::Task<std::optional<Lease>> MemoryLockStorage::tryLock(LockRequest request) {
  Waiter waiter;
  std::variant<std::optional<Lease>, InLine> arrival;
  try {
    arrival = arrive(request, waiter);
  } catch (const std::out_of_range& error) {
    throw LockStorageUnavailable(error.what());
  }
  const auto received = SteadyClock::now();
  std::optional<Lease> lease;
  if (auto* answer = std::get_if<std::optional<Lease>>(&arrival))
    lease = std::move(*answer);
  else
    lease = co_await Waiter::Turn(waiter);
  if (lease) lease->received = received;
  co_return lease;
}

std::variant<std::optional<Lease>, MemoryLockStorage::InLine> MemoryLockStorage::arrive(
    const LockRequest& request, Waiter& waiter) {
  const auto now = SteadyClock::now();
  const std::lock_guard guard(mutex_);
  if (closed_) throw LockClosed();
  if (request.wait <= Millis{0}) {
    auto grant = table_.tryArrive(request.key, request.lease, now);
    return grant ? std::optional(std::move(grant->lease)) : std::nullopt;
  }
  const auto id = ++lastWaiter_;
  auto arrival = table_.arrive(id, request.key, request.lease, now, request.together);
  if (auto* grant = std::get_if<LockTable::Grant>(&arrival))
    return std::optional(std::move(grant->lease));
  if (std::holds_alternative<LockTable::Refused>(arrival)) throw LockQueueFull();
  waiting_.emplace(id, &waiter);
  startWaitTimer(request, id, waiter);
  watchHolder(request.key, std::get<LockTable::Queued>(arrival).holderExpiresAt);
  return InLine{};
}

void MemoryLockStorage::startWaitTimer(const LockRequest& request, WaiterId id,
                                       const Waiter& waiter) {
  waiter.loop()->runAfter(seconds(request.wait), [weak = weak_from_this(), key = request.key, id] {
    if (auto self = weak.lock()) self->timeOut(key, id);
  });
}

void MemoryLockStorage::timeOut(const LockKey& key, WaiterId id) {
  const std::lock_guard guard(mutex_);
  // Not in line any more: its grant has been made and is on the way.
  if (!table_.cancel(id, key)) return;
  const auto waiter = waiting_.extract(id);
  waiter.mapped()->giveUp();
}

// Callers hold mutex_.
void MemoryLockStorage::watchHolder(const LockKey& key, SteadyTime expiresAt) {
  const auto [watched, isNew] = watched_.emplace(key, expiresAt);
  if (!isNew && watched->second <= expiresAt) return;
  watched->second = expiresAt;
  const auto wait = seconds(expiresAt - SteadyClock::now());
  timers_->runAfter(wait, [weak = weak_from_this(), key, expiresAt] {
    if (auto self = weak.lock()) self->onHolderTimer(key, expiresAt);
  });
}

void MemoryLockStorage::onHolderTimer(const LockKey& key, SteadyTime armedFor) {
  const std::lock_guard guard(mutex_);
  const auto watched = watched_.find(key);
  // An earlier timer has taken its place: the next holder's lease was shorter.
  if (watched == watched_.end() || watched->second != armedFor) return;
  watched_.erase(watched);
  try {
    deliver(table_.expire(key, SteadyClock::now()));
  } catch (const std::out_of_range& error) {
    LOG_ERROR << "no fence for the next holder: " << error.what();
    return;  // its waiters time out
  }
  if (const auto expiresAt = table_.contendedUntil(key)) watchHolder(key, *expiresAt);
}

// Callers hold mutex_.
void MemoryLockStorage::deliver(LockTable::Grants grants) {
  for (auto& grant : grants) {
    const auto waiter = waiting_.extract(grant.waiter);
    waiter.mapped()->grant(std::move(grant.lease));
  }
}

drogon::Task<bool> MemoryLockStorage::extend(Lease& lease, Extension extension) {
  const std::lock_guard guard(mutex_);
  co_return table_.extend(lease, extension, SteadyClock::now());
}

drogon::Task<Unlocked> MemoryLockStorage::unlock(Lease lease) {
  const std::lock_guard guard(mutex_);
  try {
    auto release = table_.release(lease.key, lease.owner, SteadyClock::now());
    deliver(std::move(release.next));
    if (const auto expiresAt = table_.contendedUntil(lease.key)) watchHolder(lease.key, *expiresAt);
    co_return release.released ? Unlocked::kReleased : Unlocked::kLost;
  } catch (const std::out_of_range& error) {
    LOG_ERROR << "no fence for the next holder: " << error.what();
  }
  co_return Unlocked::kUnknown;
}

void MemoryLockStorage::close() {
  const std::lock_guard guard(mutex_);
  closed_ = true;
  table_.dropWaiters();
  for (auto& [id, waiter] : waiting_) waiter->fail(std::make_exception_ptr(LockClosed()));
  waiting_.clear();
}

std::size_t MemoryLockStorage::keys() const {
  const std::lock_guard guard(mutex_);
  return table_.keys();
}

std::size_t MemoryLockStorage::waiters() const {
  const std::lock_guard guard(mutex_);
  return table_.waiters();
}

}  // namespace festa::lock
