#include "lock/memory/lock_table.h"

#include <algorithm>

namespace festa::lock {

LockTable::LockTable(std::int64_t epoch, std::string ownerPrefix, LockTableLimits limits)
    : ownerPrefix_(std::move(ownerPrefix)), limits_(limits), fences_(epoch) {}

bool LockTable::isFree(const Entry& entry, SteadyTime now) {
  return entry.expiresAt <= now;
}

LockTable::Grant LockTable::grant(const LockKey& key, Entry& entry, WaiterId waiter, Millis lease,
                                  SteadyTime now) {
  const auto fence = fences_.next();
  const auto& owner = entry.owners.emplace_back(ownerPrefix_ + std::to_string(++acquisitions_));
  entry.expiresAt = now + lease;
  return Grant{waiter, Lease{key, owner, fence, entry.expiresAt - driftMargin(lease)}};
}

LockTable::Arrival LockTable::arrive(WaiterId waiter, const LockKey& key, Millis lease,
                                     SteadyTime now, std::size_t together) {
  sweepNowAndThen(now);
  auto [entry, isNew] = entries_.try_emplace(key);
  auto& line = entry->second.line;
  if (isNew || (line.empty() && isFree(entry->second, now))) {
    entry->second.owners.clear();
    return grant(key, entry->second, waiter, lease, now);
  }
  if (limits_.areReached(line.size(), waiters_)) return Refused{};
  line.push({waiter, lease, std::max<std::size_t>(1, together)});
  ++waiters_;
  return Queued{entry->second.expiresAt};
}

std::optional<LockTable::Grant> LockTable::tryArrive(const LockKey& key, Millis lease,
                                                     SteadyTime now) {
  sweepNowAndThen(now);
  auto [entry, isNew] = entries_.try_emplace(key);
  if (!isNew && (!entry->second.line.empty() || !isFree(entry->second, now))) return std::nullopt;
  entry->second.owners.clear();
  return grant(key, entry->second, 0, lease, now);
}

bool LockTable::cancel(WaiterId waiter, const LockKey& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return false;
  if (!entry->second.line.cancel(waiter)) return false;
  --waiters_;
  return true;
}

LockTable::Grants LockTable::grantNext(Entries::iterator entry, SteadyTime now) {
  auto& [key, held] = *entry;
  if (held.line.empty()) {
    entries_.erase(entry);
    return {};
  }
  held.owners.clear();
  Grants grants;
  const auto& head = held.line.head();
  Companions companions(head.lease, head.together, 0);
  // Without a token left, the first grant throws before it changes the line.
  auto tokens = std::max<std::int64_t>(1, fences_.left());
  while (tokens-- > 0 && !held.line.empty()) {
    const auto next = held.line.head();
    if (!companions.joins(next.lease, next.together)) break;
    grants.push_back(grant(key, held, next.waiter, next.lease, now));
    held.line.pop();
    --waiters_;
  }
  makeCompany(grants);
  return grants;
}

LockTable::Release LockTable::release(const LockKey& key, const std::string& owner,
                                      SteadyTime now) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || std::erase(entry->second.owners, owner) == 0) return {};
  // An owner that comes after its lease has lost it, even when no request has asked for the key
  // since.
  const bool inTime = !isFree(entry->second, now);
  if (inTime && !entry->second.owners.empty()) return Release{true};
  return Release{inTime, grantNext(entry, now)};
}

LockTable::Grants LockTable::expire(const LockKey& key, SteadyTime now) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || !isFree(entry->second, now)) return {};
  return grantNext(entry, now);
}

bool LockTable::extend(Lease& lease, const Extension& extension, SteadyTime now) {
  const auto entry = entries_.find(lease.key);
  if (entry == entries_.end() || isFree(entry->second, now)) return false;
  const auto& owners = entry->second.owners;
  if (std::find(owners.begin(), owners.end(), lease.owner) == owners.end()) return false;
  if (extension.fenceAbove) {
    const auto fence = fences_.nextAbove(std::max(*extension.fenceAbove, lease.fence));
    if (fence == 0) return false;
    lease.fence = fence;
  }
  if (extension.lease) {
    entry->second.expiresAt = now + *extension.lease;
    lease.validUntil = entry->second.expiresAt - driftMargin(*extension.lease);
  }
  return true;
}

std::optional<SteadyTime> LockTable::contendedUntil(const LockKey& key) const {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || entry->second.line.empty()) return std::nullopt;
  return entry->second.expiresAt;
}

void LockTable::sweep(SteadyTime now) {
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.second.line.empty() && isFree(entry.second, now);
  });
}

void LockTable::sweepNowAndThen(SteadyTime now) {
  // Costs one look at every key per 4096 arrivals.
  if (++arrivals_ % 4096 == 0) sweep(now);
}

void LockTable::dropWaiters() {
  for (auto& [key, entry] : entries_) entry.line.clear();
  waiters_ = 0;
}

}  // namespace festa::lock
