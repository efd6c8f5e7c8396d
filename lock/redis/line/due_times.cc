#include "lock/redis/line/due_times.h"

namespace festa::lock {

void DueTimes::set(const LockKey& key, SteadyTime at) {
  remove(key);
  byKey_.emplace(key, at);
  byTime_.emplace(at, key);
}

void DueTimes::setEarlier(const LockKey& key, SteadyTime at) {
  const auto known = byKey_.find(key);
  if (known == byKey_.end() || at < known->second) set(key, at);
}

void DueTimes::remove(const LockKey& key) {
  const auto known = byKey_.find(key);
  if (known == byKey_.end()) return;
  byTime_.erase({known->second, key});
  byKey_.erase(known);
}

void DueTimes::clear() {
  byKey_.clear();
  byTime_.clear();
}

std::optional<LockKey> DueTimes::takeDue(SteadyTime now) {
  if (byTime_.empty() || byTime_.begin()->first > now) return std::nullopt;
  auto first = byTime_.extract(byTime_.begin());
  byKey_.erase(first.value().second);
  return std::move(first.value().second);
}

std::optional<SteadyTime> DueTimes::nextAt() const {
  if (byTime_.empty()) return std::nullopt;
  return byTime_.begin()->first;
}

}  // namespace festa::lock
