#include "lock/lock_table.h"

#include <algorithm>

namespace festa::lock {

LockTable::LockTable(std::int64_t epoch, std::string ownerPrefix, LockTableLimits limits)
    : ownerPrefix_(std::move(ownerPrefix)), limits_(limits), fences_(epoch) {}

bool LockTable::isFree(const Entry& entry, SteadyTime now) {
  return entry.expiresAt <= now;
}

LockTable::Grant LockTable::grant(const LockKey& key, Entry& entry, WaiterId waiter, Millis lease,
                                  SteadyTime now) {
  entry.owner = ownerPrefix_ + std::to_string(++acquisitions_);
  entry.expiresAt = now + lease;
  return Grant{waiter,
               Lease{key, entry.owner, fences_.next(), entry.expiresAt - driftMargin(lease)}};
}

LockTable::Arrival LockTable::arrive(WaiterId waiter, const LockKey& key, Millis lease,
                                     SteadyTime now) {
  sweepNowAndThen(now);
  auto [entry, isNew] = entries_.try_emplace(key);
  auto& line = entry->second.line;
  if (isNew || (line.empty() && isFree(entry->second, now)))
    return grant(key, entry->second, waiter, lease, now);
  if (line.size() >= limits_.waitersPerKey || waiters_ >= limits_.waitersInAll) return Refused{};
  line.push_back({waiter, lease});
  ++waiters_;
  return Queued{entry->second.expiresAt};
}

std::optional<LockTable::Grant> LockTable::tryArrive(const LockKey& key, Millis lease,
                                                     SteadyTime now) {
  sweepNowAndThen(now);
  auto [entry, isNew] = entries_.try_emplace(key);
  if (!isNew && (!entry->second.line.empty() || !isFree(entry->second, now))) return std::nullopt;
  return grant(key, entry->second, 0, lease, now);
}

bool LockTable::cancel(WaiterId waiter, const LockKey& key) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return false;
  auto& line = entry->second.line;
  const auto found =
      std::find_if(line.begin(), line.end(), [&](const Waiter& w) { return w.id == waiter; });
  if (found == line.end()) return false;
  line.erase(found);
  --waiters_;
  return true;
}

std::optional<LockTable::Grant> LockTable::grantFirstInLine(Entries::iterator entry,
                                                            SteadyTime now) {
  auto& line = entry->second.line;
  if (line.empty()) {
    entries_.erase(entry);
    return std::nullopt;
  }
  const Waiter first = line.front();
  auto next = grant(entry->first, entry->second, first.id, first.lease, now);
  line.pop_front();
  --waiters_;
  return next;
}

LockTable::Release LockTable::release(const LockKey& key, const std::string& owner,
                                      SteadyTime now) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || entry->second.owner != owner) return {};
  // An owner that comes after its lease has lost it, even when nobody has asked for the key since.
  const bool inTime = entry->second.expiresAt > now;
  return Release{inTime, grantFirstInLine(entry, now)};
}

std::optional<LockTable::Grant> LockTable::expire(const LockKey& key, SteadyTime now) {
  const auto entry = entries_.find(key);
  if (entry == entries_.end() || !isFree(entry->second, now)) return std::nullopt;
  return grantFirstInLine(entry, now);
}

bool LockTable::extend(Lease& lease, const Extension& extension, SteadyTime now) {
  const auto entry = entries_.find(lease.key);
  if (entry == entries_.end() || entry->second.owner != lease.owner ||
      entry->second.expiresAt <= now)
    return false;
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
