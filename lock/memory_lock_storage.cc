#include "lock/memory_lock_storage.h"

#include "lock/owner_id.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>
#include <coroutine>

namespace festa::lock {

namespace {

double seconds(SteadyClock::duration duration) {
  return std::max(0.0, std::chrono::duration<double>(duration).count());
}

}  // namespace

// One coroutine in line. It is finished exactly once, by whoever takes it out of waiting_. It
// suspends and resumes on its own loop, so the grant cannot overtake the suspension.
class MemoryLockStorage::Waiter : public std::enable_shared_from_this<Waiter> {
 public:
  Waiter(trantor::EventLoop* ownLoop, WaiterId ownId) : loop(ownLoop), id(ownId) {}

  void finish(std::optional<Lease> result, bool closed) {
    lease_ = std::move(result);
    closed_ = closed;
    loop->queueInLoop([self = shared_from_this()] { self->handle_.resume(); });
  }

  // What the coroutine awaits. Refers to the waiter instead of being it: GCC 12 copies an awaited
  // lvalue.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<Waiter> waiter) : waiter_(std::move(waiter)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { waiter_->handle_ = handle; }
    std::optional<Lease> await_resume() const {
      if (waiter_->closed_) throw LockClosed();
      return std::move(waiter_->lease_);
    }

   private:
    const std::shared_ptr<Waiter> waiter_;
  };

  trantor::EventLoop* const loop;
  const WaiterId id;

 private:
  std::coroutine_handle<> handle_;
  std::optional<Lease> lease_;
  bool closed_ = false;
};

std::shared_ptr<MemoryLockStorage> MemoryLockStorage::create(std::int64_t epoch,
                                                             trantor::EventLoop* timers,
                                                             LockTableLimits limits) {
  return std::shared_ptr<MemoryLockStorage>(new MemoryLockStorage(epoch, timers, limits));
}

MemoryLockStorage::MemoryLockStorage(std::int64_t epoch, trantor::EventLoop* timers,
                                     LockTableLimits limits)
    : timers_(timers), table_(epoch, randomOwnerPrefix(), limits) {}

MemoryLockStorage::~MemoryLockStorage() = default;

drogon::Task<std::optional<Lease>> MemoryLockStorage::tryLock(LockRequest request) {
  auto arrival = arrive(request);
  if (auto* answer = std::get_if<std::optional<Lease>>(&arrival)) co_return std::move(*answer);
  const WaiterPtr waiter = std::get<WaiterPtr>(arrival);
  startWaitTimer(request, waiter);
  co_return co_await Waiter::Turn(waiter);
}

// Granted or refused at once, or a place in line.
std::variant<std::optional<Lease>, MemoryLockStorage::WaiterPtr> MemoryLockStorage::arrive(
    const LockRequest& request) {
  const auto now = SteadyClock::now();
  const std::lock_guard guard(mutex_);
  if (closed_) throw LockClosed();
  if (request.wait <= Millis{0}) {
    auto grant = table_.tryArrive(request.key, request.lease, now);
    return grant ? std::optional(std::move(grant->lease)) : std::nullopt;
  }
  const auto id = ++lastWaiter_;
  auto arrival = table_.arrive(id, request.key, request.lease, now);
  if (auto* grant = std::get_if<LockTable::Grant>(&arrival))
    return std::optional(std::move(grant->lease));
  if (std::holds_alternative<LockTable::Refused>(arrival)) throw LockQueueFull();
  auto waiter = std::make_shared<Waiter>(trantor::EventLoop::getEventLoopOfCurrentThread(), id);
  waiting_.emplace(id, waiter);
  watchHolder(request.key, std::get<LockTable::Queued>(arrival).holderExpiresAt);
  return waiter;
}

void MemoryLockStorage::startWaitTimer(const LockRequest& request, const WaiterPtr& waiter) {
  waiter->loop->runAfter(seconds(request.wait),
                         [weak = weak_from_this(), key = request.key, id = waiter->id] {
                           if (auto self = weak.lock()) self->timeOut(key, id);
                         });
}

void MemoryLockStorage::timeOut(const LockKey& key, WaiterId id) {
  const std::lock_guard guard(mutex_);
  // Not in line any more: its grant has been made and is on the way.
  if (!table_.cancel(id, key)) return;
  const auto waiter = waiting_.extract(id);
  waiter.mapped()->finish(std::nullopt, false);
}

// Callers hold mutex_.
void MemoryLockStorage::watchHolder(const LockKey& key, SteadyTime expiresAt) {
  if (!watched_.insert(key).second) return;
  timers_->runAfter(seconds(expiresAt - SteadyClock::now()), [weak = weak_from_this(), key] {
    if (auto self = weak.lock()) self->onHolderTimer(key);
  });
}

void MemoryLockStorage::onHolderTimer(const LockKey& key) {
  const std::lock_guard guard(mutex_);
  watched_.erase(key);
  if (auto next = table_.expire(key, SteadyClock::now())) deliver(std::move(*next));
  if (const auto expiresAt = table_.contendedUntil(key)) watchHolder(key, *expiresAt);
}

// Callers hold mutex_.
void MemoryLockStorage::deliver(LockTable::Grant grant) {
  const auto waiter = waiting_.extract(grant.waiter);
  waiter.mapped()->finish(std::move(grant.lease), false);
}

drogon::Task<bool> MemoryLockStorage::extend(Lease& lease, Extension extension) {
  const std::lock_guard guard(mutex_);
  co_return table_.extend(lease, extension, SteadyClock::now());
}

drogon::Task<Unlocked> MemoryLockStorage::unlock(Lease lease) {
  const std::lock_guard guard(mutex_);
  try {
    auto release = table_.release(lease.key, lease.owner, SteadyClock::now());
    if (release.next) deliver(std::move(*release.next));
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
  for (auto& [id, waiter] : waiting_) waiter->finish(std::nullopt, true);
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
