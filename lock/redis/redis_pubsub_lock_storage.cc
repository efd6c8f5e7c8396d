#include "lock/redis/redis_pubsub_lock_storage.h"

#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <utility>

namespace festa::lock {

namespace {

double seconds(SteadyClock::duration duration) {
  return std::max(0.0, std::chrono::duration<double>(duration).count());
}

}  // namespace

RedisPubSubLockStorage::RedisPubSubLockStorage(RedisCommands& commands, RedisKeys keys,
                                               EpochSource& epochs, const LineSurroundings& around)
    : line_(commands, std::move(keys), epochs, around),
      timers_(around.timers),
      limits_(around.limits) {}

drogon::Task<std::optional<Lease>> RedisPubSubLockStorage::tryLock(LockRequest request) {
  if (request.wait <= Millis{0}) {
    if (isKnownHere(request.key)) co_return std::nullopt;
    co_return co_await line_.take(request);
  }
  Waiter waiter;
  stand(request, waiter);
  co_return co_await Waiter::Turn(waiter);
}

bool RedisPubSubLockStorage::isKnownHere(const LockKey& key) const {
  const std::lock_guard guard(mutex_);
  return locals_.contains(key);
}

void RedisPubSubLockStorage::stand(const LockRequest& request, Waiter& waiter) {
  bool ask = false;
  {
    const std::lock_guard guard(mutex_);
    if (closed_) throw LockClosed();
    const auto known = locals_.find(request.key);
    const auto inLine = known == locals_.end() ? 0 : known->second.line.size();
    if (inLine >= limits_.waitersPerKey || waiters_ >= limits_.waitersInAll) throw LockQueueFull();
    auto& local = locals_[request.key];
    const auto id = ++lastWaiter_;
    local.line.emplace(id, Local::InLine{&waiter, request.lease});
    ++waiters_;
    ask = !local.asking && local.owner.empty();
    if (ask) local.asking = true;
    if (!local.owner.empty()) watchHolder(request.key, local);
    waiter.loop()->runAfter(seconds(request.wait),
                            [this, key = request.key, id] { timeOut(key, id); });
  }
  if (ask) askServer(request.key, request.lease);
}

void RedisPubSubLockStorage::timeOut(const LockKey& key, WaiterId id) {
  Waiter* waiter = nullptr;
  std::optional<WaiterId> unused;
  {
    const std::lock_guard guard(mutex_);
    const auto local = locals_.find(key);
    if (local == locals_.end()) return;
    const auto node = local->second.line.extract(id);
    if (!node) return;  // its grant is on the way
    --waiters_;
    waiter = node.mapped().waiter;
    if (local->second.line.empty() && local->second.asking) unused = local->second.place;
  }
  waiter->giveUp();
  // Not cancelled: the place has just become a hold, which will find nobody and be given back.
  if (!unused || !line_.cancel(*unused)) return;
  std::optional<Millis> askFor;
  {
    const std::lock_guard guard(mutex_);
    const auto local = locals_.find(key);
    if (local == locals_.end() || local->second.place != unused) return;
    local->second.place.reset();
    local->second.asking = false;
    if (!local->second.line.empty()) {
      local->second.asking = true;
      askFor = local->second.line.begin()->second.lease;
    } else if (local->second.owner.empty()) {
      locals_.erase(local);
    }
  }
  if (askFor) askServer(key, *askFor);
}

// The caller has set `asking`.
void RedisPubSubLockStorage::askServer(const LockKey& key, Millis lease) {
  WaiterId place = 0;
  try {
    place = line_.arrive(key, lease, true, *this);
  } catch (...) {
    return failed(key, std::current_exception());
  }
  const std::lock_guard guard(mutex_);
  const auto local = locals_.find(key);
  if (local != locals_.end() && local->second.asking) local->second.place = place;
}

void RedisPubSubLockStorage::placeEnded(const LockKey& key, PlaceEnd end) {
  if (end.error)
    failed(key, end.error);
  else
    granted(key, std::move(*end.lease));
}

void RedisPubSubLockStorage::granted(const LockKey& key, Lease lease) {
  Waiter* waiter = nullptr;
  {
    const std::lock_guard guard(mutex_);
    auto& local = locals_[key];
    local.asking = false;
    local.place.reset();
    if (local.line.empty()) {
      locals_.erase(key);
    } else {
      waiter = local.line.begin()->second.waiter;
      local.line.erase(local.line.begin());
      --waiters_;
      local.owner = lease.owner;
      local.heldUntil = lease.validUntil;
      if (!local.line.empty()) watchHolder(key, local);
    }
  }
  if (waiter)
    waiter->grant(std::move(lease));
  else
    giveBackUnused(std::move(lease));
}

drogon::AsyncTask RedisPubSubLockStorage::giveBackUnused(Lease lease) {
  co_await line_.giveBack(lease);
}

// All who wait here wait for the same server.
void RedisPubSubLockStorage::failed(const LockKey& key, const std::exception_ptr& error) {
  std::map<WaiterId, Local::InLine> waiting;
  {
    const std::lock_guard guard(mutex_);
    const auto local = locals_.find(key);
    if (local == locals_.end()) return;
    local->second.asking = false;
    local->second.place.reset();
    waiting = std::exchange(local->second.line, {});
    waiters_ -= waiting.size();
    if (local->second.owner.empty()) locals_.erase(local);
  }
  for (auto& [id, one] : waiting) one.waiter->fail(error);
}

// Callers hold mutex_. A holder that never gives back must not stop the line.
void RedisPubSubLockStorage::watchHolder(const LockKey& key, Local& local) {
  if (local.watched) return;
  local.watched = true;
  timers_->runAfter(seconds(local.heldUntil - SteadyClock::now()),
                    [this, key] { onHolderTimer(key); });
}

void RedisPubSubLockStorage::onHolderTimer(const LockKey& key) {
  std::optional<Millis> askFor;
  {
    const std::lock_guard guard(mutex_);
    const auto found = locals_.find(key);
    if (found == locals_.end()) return;
    auto& local = found->second;
    local.watched = false;
    if (local.owner.empty() || local.line.empty()) return;
    if (local.heldUntil > SteadyClock::now()) return watchHolder(key, local);
    local.owner.clear();
    local.asking = true;
    askFor = local.line.begin()->second.lease;
  }
  askServer(key, *askFor);
}

drogon::Task<bool> RedisPubSubLockStorage::extend(Lease& lease, Extension extension) {
  const bool extended = co_await line_.extend(lease, extension);
  if (extended) {
    const std::lock_guard guard(mutex_);
    const auto local = locals_.find(lease.key);
    if (local != locals_.end() && local->second.owner == lease.owner)
      local->second.heldUntil = lease.validUntil;
  }
  co_return extended;
}

drogon::Task<Unlocked> RedisPubSubLockStorage::unlock(Lease lease) {
  const auto leave = nameSuccessor(lease);
  if (!leave) {
    const auto left = co_await line_.giveBack(lease);
    co_return left.unlocked;
  }
  const auto left = co_await line_.handOver(*leave);
  countHandOff(*leave, left.others);
  co_return left.unlocked;
}

// nullopt: nobody waits here.
std::optional<LeaveCommand> RedisPubSubLockStorage::nameSuccessor(const Lease& lease) {
  const std::lock_guard guard(mutex_);
  const auto found = locals_.find(lease.key);
  if (found == locals_.end() || found->second.owner != lease.owner) return std::nullopt;
  auto& local = found->second;
  local.owner.clear();
  if (local.line.empty()) {
    locals_.erase(found);
    return std::nullopt;
  }
  local.asking = true;
  auto succession =
      line_.nameSuccessor(lease, local.line.begin()->second.lease, local.inARow < kInARow, *this);
  local.place = succession.successor;
  return std::move(succession.leave);
}

void RedisPubSubLockStorage::countHandOff(const LeaveCommand& leave, bool others) {
  const std::lock_guard guard(mutex_);
  const auto local = locals_.find(leave.key);
  if (local == locals_.end()) return;
  local->second.inARow = leave.keep && others ? local->second.inARow + 1 : 0;
}

void RedisPubSubLockStorage::close() {
  std::vector<Waiter*> waiting;
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    for (auto& [key, local] : locals_) {
      for (auto& [id, one] : local.line) waiting.push_back(one.waiter);
      local.line.clear();
    }
    waiters_ = 0;
  }
  for (auto* const waiter : waiting) waiter->fail(std::make_exception_ptr(LockClosed()));
  line_.close();
}

std::size_t RedisPubSubLockStorage::waiters() const {
  const std::lock_guard guard(mutex_);
  return waiters_;
}

}  // namespace festa::lock
