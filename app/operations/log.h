// One JSON object per line on standard output, for ours and for Drogon's own messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace festa {

// One line under construction, finished when it goes out of scope. Thread-safe as a whole: lines do
// not mix. Written at once, except of a lock: that goes out together with the line of its request,
// which follows in the same turn of the loop, before the answer.
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

// Sets the level and sends Drogon's messages through LogLine. Called once, before anything logs.
void initialiseLog(const std::string& level);

}  // namespace festa
