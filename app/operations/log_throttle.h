// Keeps a line that repeats from filling the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace festa {

// Lets at most `perSecond` lines of one place in the source through in each second. Thread-safe.
class LogThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit LogThrottle(std::uint64_t perSecond) : perSecond_(perSecond) {}

  // Nullopt: do not write the line. Else how many lines of this place were not written before it.
  std::optional<std::uint64_t> mayWrite(const std::string& place, Time now);

 private:
  struct Second {
    Time began;
    std::uint64_t written = 0;
    std::uint64_t dropped = 0;
  };

  const std::uint64_t perSecond_;
  std::mutex mutex_;
  std::map<std::string, Second> places_;  // guarded by mutex_; as many as the source has
};

}  // namespace festa
