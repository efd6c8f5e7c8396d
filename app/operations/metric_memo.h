// Metrics of one family by the values of their labels.
#pragma once

#include <initializer_list>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace festa {

// Remembers which metric belongs to which values, so that a family is asked, with a map of labels
// built for it, once and not for every observation. Thread-safe. As bounded as the labels are: for
// patterns and names, never for request data.
template <class Metric>
class MetricMemo {
 public:
  // `make()` asks the family, when these values come for the first time.
  template <class Make>
  Metric& of(std::initializer_list<std::string_view> values, Make make) {
    thread_local std::string key;
    key.clear();
    for (const auto value : values) key.append(value).push_back('\0');
    {
      const std::shared_lock guard(mutex_);
      if (const auto found = known_.find(key); found != known_.end()) return *found->second;
    }
    Metric& made = make();
    const std::lock_guard guard(mutex_);
    known_.emplace(key, &made);
    return made;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::string, Metric*> known_;  // guarded by mutex_
};

}  // namespace festa
