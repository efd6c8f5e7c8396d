// When something is due for which key.
#pragma once

#include "lock/lock_storage.h"

#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace festa::lock {

// At most one time for each key. Not thread-safe.
class DueTimes {
 public:
  // Replaces the key's time.
  void set(const LockKey& key, SteadyTime at);
  // The earlier of the key's time, if it has one, and `at`.
  void setEarlier(const LockKey& key, SteadyTime at);
  void remove(const LockKey& key);
  void clear();

  // The key that is due first, without its time from now on. nullopt: none is due by `now`.
  std::optional<LockKey> takeDue(SteadyTime now);

  bool contains(const LockKey& key) const { return byKey_.contains(key); }
  // When the first key is due.
  std::optional<SteadyTime> nextAt() const;

 private:
  std::unordered_map<LockKey, SteadyTime> byKey_;
  std::set<std::pair<SteadyTime, LockKey>> byTime_;  // the same, by time
};

}  // namespace festa::lock
