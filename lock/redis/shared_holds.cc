#include "lock/redis/shared_holds.h"

#include <algorithm>
#include <utility>

namespace festa::lock {

namespace {

constexpr std::size_t kSweepAbove = 10'000;

}  // namespace

std::vector<std::string> SharedHolds::begin(const LockKey& key, const LineReply::Grant& grant,
                                            Millis lease, SteadyTime sent) {
  sweep(sent);
  std::vector<std::string> left;
  const auto known = holds_.find(key);
  if (known != holds_.end()) {
    if (known->second.fence > grant.fence) return {};
    left = std::move(known->second.past);
    due_.remove(key);
    holds_.erase(known);
  }
  if (grant.followers.empty()) return left;
  const auto validUntil = sent + lease - driftMargin(lease);
  holds_[key] = {.leader = grant.ticket,
                 .holder = grant.ticket,
                 .past = {},
                 .upcoming = {grant.followers.rbegin(), grant.followers.rend()},
                 .fence = grant.fence,
                 .validUntil = validUntil,
                 .youngUntil = validUntil - leastFollowerTime(lease)};
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
  const bool isOne = shared.leader == lease.owner ||
                     std::ranges::find(shared.past, lease.owner) != shared.past.end();
  return isOne ? &shared : nullptr;
}

SharedHolds::Turn SharedHolds::turnOf(const Lease& lease) const {
  const auto* const shared = find(lease);
  if (!shared) return Turn::kAlone;
  return shared->holder == lease.owner ? Turn::kNow : Turn::kOver;
}

std::optional<std::string> SharedHolds::nextFollower(const LockKey& key, SteadyTime now) {
  auto& shared = holds_.at(key);
  if (now >= shared.youngUntil || shared.upcoming.empty()) return std::nullopt;
  auto ticket = std::move(shared.upcoming.back());
  shared.upcoming.pop_back();
  ++shared.fence;
  return ticket;
}

Lease SharedHolds::giveTurn(const LockKey& key, std::string ticket) {
  auto& shared = holds_.at(key);
  shared.holder = ticket;
  shared.past.push_back(ticket);
  if (shared.past.size() == 1) due_.set(key, shared.validUntil);
  return {key, std::move(ticket), shared.fence, shared.validUntil};
}

std::string SharedHolds::leaderOf(const Lease& lease) const {
  const auto* const shared = find(lease);
  return shared ? shared->leader : lease.owner;
}

void SharedHolds::endTurns(const LockKey& key) {
  holds_.at(key).upcoming.clear();
}

void SharedHolds::endAllTurns() {
  for (auto& [key, shared] : holds_) shared.upcoming.clear();
}

void SharedHolds::prolonged(const Lease& lease) {
  if (!find(lease)) return;
  auto& shared = holds_.at(lease.key);
  shared.validUntil = lease.validUntil;
  if (!shared.past.empty()) due_.set(lease.key, shared.validUntil);
}

LeaveCommand SharedHolds::leave(const Lease& lease) {
  if (!find(lease)) return {lease.key, lease.owner};
  due_.remove(lease.key);
  auto shared = std::move(holds_.extract(lease.key).mapped());
  return {
      .key = lease.key, .ticket = std::move(shared.leader), .followers = std::move(shared.past)};
}

std::optional<AbandonCommand> SharedHolds::takeOld(SteadyTime now) {
  auto key = due_.takeDue(now);
  if (!key) return std::nullopt;
  return AbandonCommand{*key, holds_.at(*key).past};
}

}  // namespace festa::lock
