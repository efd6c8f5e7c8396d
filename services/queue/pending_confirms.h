// Messages that were sent and not yet confirmed.
#pragma once

#include "services/queue/ordered_queue.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace festa::queue {

// By the number under which each was sent; numbers and deadlines grow. Pure; not thread-safe.
template <class T>
class PendingConfirms {
 public:
  void add(std::uint64_t number, T value, SteadyTime deadline) {
    entries_.emplace_hint(entries_.end(), number, Entry{std::move(value), deadline});
  }

  // Removes and returns the entries that a confirm names: one, or all up to `number`. An unknown
  // number names none.
  std::vector<T> settle(std::uint64_t number, bool multiple) {
    const auto first = multiple ? entries_.begin() : entries_.lower_bound(number);
    return take(first, entries_.upper_bound(number));
  }
  std::vector<T> takeAll() { return take(entries_.begin(), entries_.end()); }

  bool isEmpty() const { return entries_.empty(); }
  // Of the one that waits longest.
  std::optional<SteadyTime> deadline() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.begin()->second.deadline;
  }

 private:
  struct Entry {
    T value;
    SteadyTime deadline;
  };
  using Entries = std::map<std::uint64_t, Entry>;

  std::vector<T> take(typename Entries::iterator first, typename Entries::iterator last) {
    std::vector<T> taken;
    for (auto entry = first; entry != last; ++entry)
      taken.push_back(std::move(entry->second.value));
    entries_.erase(first, last);
    return taken;
  }

  Entries entries_;
};

}  // namespace festa::queue
