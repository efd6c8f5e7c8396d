// The names of a storage's keys in Redis.
#pragma once

#include <string>

namespace festa::lock {

// All of one storage begin with its prefix; storages with different prefixes do not see each other.
class RedisKeys {
 public:
  explicit RedisKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string hold(const std::string& key) const { return prefix_ + ":hold:" + key; }
  std::string fence() const {
    return prefix_ + ":fence";
  }  // the last token given; missing: draw an epoch

 private:
  const std::string prefix_;
};

}  // namespace festa::lock
