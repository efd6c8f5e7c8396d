#include "lock/redis/line/shared_holds.h"

#include <algorithm>
#include <utility>

namespace festa::lock {

namespace {

constexpr std::size_t kSweepAbove = 10'000;

}  // namespace

std::vector<std::string> SharedHolds::begin(const LockKey& key, const LineReply::Grant& grant,
                                            Begin how) {
  sweep(how.sent);
  std::vector<std::string> left;
  const auto known = holds_.find(key);
  if (known != holds_.end()) {
    if (known->second.fence > grant.fence) return {};
    left = std::move(known->second.past);
    due_.remove(key);
    holds_.erase(known);
  }
  if (grant.followers.empty() && !how.isKept) return left;
  const auto validUntil = how.sent + how.lease - driftMargin(how.lease);
  const auto after = static_cast<std::int64_t>(grant.followers.size()) + grant.spare;
  holds_[key] = {.leader = grant.ticket,
                 .holders = {grant.ticket},
                 .past = {},
                 .upcoming = {grant.followers.rbegin(), grant.followers.rend()},
                 .fence = grant.fence,
                 .lastFence = grant.fence + after,
                 .lease = how.lease,
                 .validUntil = validUntil,
                 .youngUntil = validUntil - leastFollowerTime(how.lease),
                 .turns = how.turns};
  return left;
}

// Holders that never give back are few; their entries may stay a while.
void SharedHolds::sweep(SteadyTime now) {
  if (holds_.size() <= kSweepAbove) return;
  std::erase_if(holds_, [&](const auto& hold) {
    return hold.second.validUntil < now && !due_.contains(hold.first);
  });
}

const SharedHolds::Shared* SharedHolds::find(const Lease& lease) const {
  const auto known = holds_.find(lease.key);
  if (known == holds_.end()) return nullptr;
  const auto& shared = known->second;
  const auto isOneOf = [&](const auto& tickets) {
    return std::ranges::find(tickets, lease.owner) != tickets.end();
  };
  const bool isKnown =
      isOneOf(shared.holders) || shared.leader == lease.owner || isOneOf(shared.past);
  return isKnown ? &shared : nullptr;
}

SharedHolds::Turn SharedHolds::turnOf(const Lease& lease) const {
  const auto* const shared = find(lease);
  if (!shared) return Turn::kAlone;
  const auto& holders = shared->holders;
  return std::ranges::find(holders, lease.owner) != holders.end() ? Turn::kNow : Turn::kOver;
}

std::optional<SharedHolds::Held> SharedHolds::held(const LockKey& key, SteadyTime now) const {
  const auto known = holds_.find(key);
  if (known == holds_.end() || known->second.validUntil <= now) return std::nullopt;
  return Held{known->second.lease, known->second.validUntil, known->second.turns};
}

bool SharedHolds::mayFollow(const LockKey& key, SteadyTime now) const {
  const auto& shared = holds_.at(key);
  return now < shared.youngUntil && shared.fence < shared.lastFence;
}

const std::string* SharedHolds::named(const LockKey& key) const {
  const auto& upcoming = holds_.at(key).upcoming;
  return upcoming.empty() ? nullptr : &upcoming.back();
}

void SharedHolds::pass(const LockKey& key) {
  holds_.at(key).upcoming.pop_back();
}

Lease SharedHolds::join(const LockKey& key, std::string ticket, bool isNamed) {
  auto& shared = holds_.at(key);
  if (isNamed) {
    shared.upcoming.pop_back();
    shared.past.push_back(ticket);
    if (shared.past.size() == 1) due_.set(key, shared.validUntil);
  }
  shared.holders.push_back(ticket);
  return {key, std::move(ticket), ++shared.fence, shared.validUntil};
}

bool SharedHolds::leaveTurn(const Lease& lease) {
  auto& holders = holds_.at(lease.key).holders;
  holders.erase(std::ranges::find(holders, lease.owner));
  return holders.empty();
}

void SharedHolds::beginTurn(const LockKey& key) {
  ++holds_.at(key).turns;
}

std::string SharedHolds::leaderOf(const Lease& lease) const {
  const auto* const shared = find(lease);
  return shared ? shared->leader : lease.owner;
}

void SharedHolds::endTurns(const LockKey& key) {
  auto& shared = holds_.at(key);
  shared.upcoming.clear();
  shared.lastFence = shared.fence;
}

void SharedHolds::endAllTurns() {
  for (auto& [key, shared] : holds_) {
    shared.upcoming.clear();
    shared.lastFence = shared.fence;
  }
}

void SharedHolds::prolonged(const Lease& lease) {
  if (!find(lease)) return;
  auto& shared = holds_.at(lease.key);
  shared.validUntil = lease.validUntil;
  if (!shared.past.empty()) due_.set(lease.key, shared.validUntil);
}

LeaveCommand SharedHolds::leave(const LockKey& key) {
  due_.remove(key);
  auto shared = std::move(holds_.extract(key).mapped());
  return {.key = key,
          .ticket = std::move(shared.leader),
          .followers = std::move(shared.past),
          .turns = shared.turns};
}

std::optional<AbandonCommand> SharedHolds::takeOld(SteadyTime now) {
  auto key = due_.takeDue(now);
  if (!key) return std::nullopt;
  return AbandonCommand{*key, holds_.at(*key).past};
}

}  // namespace festa::lock
