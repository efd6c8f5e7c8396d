#include "lock/redis/redlock/redlock_lock_storage.h"

#include "lock/engine/owner_id.h"

#include <algorithm>

namespace festa::lock {

namespace {

constexpr int kTokenAttempts = 3;

using Kind = NodeReply::Kind;

// After a take: a node that has said no holds nothing, because its take has run.
bool mayHold(const NodeReply& reply) {
  return reply.kind == Kind::kYes || reply.kind == Kind::kLost;
}

// After a release.
bool mayStillHold(const NodeReply& reply) {
  return reply.isFailure();
}

[[noreturn]] void throwUnavailable() {
  throw LockStorageUnavailable("no majority of the Redlock nodes can be heard");
}

// What extend() answers for a hold that was not confirmed: false when a majority says it is lost.
bool lostOrThrow(const RedlockRound& round) {
  if (!round.vote().isRefused()) throwUnavailable();
  return false;
}

}  // namespace

RedlockLockStorage::RedlockLockStorage(const std::vector<const RedisClientSource*>& servers,
                                       const RedlockKeys& keys, EpochSource& epochs,
                                       RedlockSettings settings)
    : settings_(settings), ownerPrefix_(randomOwnerPrefix()), spin_(settings.spin) {
  const Quorum check(servers.size());
  for (const auto* server : servers)
    nodes_.emplace_back(*server, keys, epochs, settings_.longestLease);
}

template <class Question>
RedlockRound RedlockLockStorage::ask(const Question& question, Round::Until until) {
  return Round::ask(nodes_, question, until, settings_.nodeTimeout);
}

void RedlockLockStorage::requireShortEnough(Millis lease) const {
  if (lease > settings_.longestLease)
    throw std::invalid_argument("a lease is longer than the quarantine of the Redlock nodes");
}

drogon::Task<std::optional<Lease>> RedlockLockStorage::tryLock(LockRequest request) {
  requireShortEnough(request.lease);
  Spin::Wait wait(spin_, request.wait);
  SteadyTime received{};
  while (true) {
    auto lease = co_await attempt(request);
    if (received == SteadyTime{}) received = SteadyClock::now();
    if (lease) lease->received = received;
    if (lease) co_return lease;
    const bool isAgain = co_await wait.pause();
    if (!isAgain) co_return std::nullopt;
  }
}

drogon::Task<std::optional<Lease>> RedlockLockStorage::attempt(LockRequest request) {
  // New for every attempt: the last one may have left a tombstone.
  const auto owner = ownerPrefix_ + std::to_string(++acquisitions_);
  const Validity validity(SteadyClock::now(), request.lease);
  const auto question = [&request, &owner](RedlockNode& node) {
    return node.take(request.key, owner, request.lease);
  };
  auto take = ask(question, Round::Until::kDecided);
  co_await take.over();
  Settled settled{take};
  if (take.isGranted() && !validity.isOver(SteadyClock::now()))
    settled = co_await settle(take, request.key, owner);
  if (settled.token > 0 && !validity.isOver(SteadyClock::now()))
    co_return Lease{request.key, owner, settled.token, validity.until()};
  take.takeBack({request.key, owner, SteadyClock::now() + request.lease, mayHold});
  if (settled.round.vote().isUnavailable()) throwUnavailable();
  co_return std::nullopt;
}

drogon::Task<RedlockLockStorage::Settled> RedlockLockStorage::settle(Round granted, LockKey key,
                                                                     std::string owner) {
  Settled settled{granted};
  auto token = granted.largestNumber();
  for (int i = 0; i < kTokenAttempts; ++i) {
    const auto question = [&key, &owner, token](RedlockNode& node) {
      return node.takeToken(key, owner, token);
    };
    settled.round = granted.askAgain(question, Round::Until::kClear, settings_.nodeTimeout);
    co_await settled.round.over();
    if (settled.round.isGranted()) co_return Settled{settled.round, token};
    const auto next = settled.round.largestNumber();
    if (next <= token) co_return settled;
    // A node that granted late has handed out a number as well.
    token = std::max(next, granted.largestNumber());
  }
  // Overtaken each time: the nodes are there and the hold is ours.
  co_return Settled{granted};
}

drogon::Task<bool> RedlockLockStorage::extend(Lease& lease, Extension extension) {
  if (extension.lease) {
    requireShortEnough(*extension.lease);
    if (lease.extensions >= settings_.maxExtensions) co_return false;
  }
  if (extension.fenceAbove) extension.fenceAbove = std::max(*extension.fenceAbove, lease.fence);
  const Validity validity(SteadyClock::now(), extension.lease.value_or(Millis{0}));
  // Should it remain open what happened, the shorter of the two times counts.
  if (extension.lease) lease.validUntil = std::min(lease.validUntil, validity.until());
  const auto question = [&lease, &extension](RedlockNode& node) {
    return node.extend(lease.key, lease.owner, extension);
  };
  const auto round = ask(question, Round::Until::kClear);
  co_await round.over();
  if (!round.isGranted()) co_return lostOrThrow(round);
  if (extension.lease) {
    if (validity.isOver(SteadyClock::now())) throwUnavailable();
    lease.validUntil = validity.until();
    ++lease.extensions;
  }
  if (!extension.fenceAbove) co_return true;
  const auto settled = co_await settle(round, lease.key, lease.owner);
  if (settled.token == 0) co_return lostOrThrow(settled.round);
  lease.fence = settled.token;
  co_return true;
}

drogon::Task<Unlocked> RedlockLockStorage::unlock(Lease lease) {
  const auto question = [&lease](RedlockNode& node) {
    return node.giveBack(lease.key, lease.owner);
  };
  auto round = ask(question, Round::Until::kClear);
  co_await round.over();
  round.takeBack({lease.key, lease.owner, lease.validUntil, mayStillHold});
  if (round.isGranted()) co_return Unlocked::kReleased;
  co_return round.vote().isRefused() ? Unlocked::kLost : Unlocked::kUnknown;
}

drogon::Task<bool> RedlockLockStorage::answers() {
  const auto question = [](RedlockNode& node) { return node.ping(); };
  const auto round = ask(question, Round::Until::kDecided);
  co_await round.over();
  co_return round.isGranted();
}

}  // namespace festa::lock
