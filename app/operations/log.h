// Writes our and Drogon's messages to standard output, one JSON object per line.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace festa {

// One line under construction, finished when it goes out of scope. Thread-safe as a whole: lines do
// not mix. It is written immediately, except for `lock` lines, which go out together with the line
// of their request: that follows in the same turn of the loop, before the answer.
class LogLine {
 public:
  explicit LogLine(std::string_view event, std::string_view level = "info");
  ~LogLine();
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;

  LogLine& with(std::string_view key, std::string_view value);
  LogLine& with(std::string_view key, std::int64_t value);
  LogLine& with(std::string_view key, double value);

 private:
  const bool enabled_;  // its level is not below the configured one
  const bool waits_;    // for the next line
  std::string text_;
};

// Keeps a line that repeats from filling the log: lets at most `perSecond` lines of one place in
// the source through in each second. Thread-safe.
class LogThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit LogThrottle(std::uint64_t perSecond) : perSecond_(perSecond) {}

  // Returns how many lines of this place were not written before this one, or nullopt when this one
  // must not be written either.
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

// Sets the level and sends Drogon's messages through LogLine. Called once, before anything logs.
void initialiseLog(const std::string& level);

}  // namespace festa
