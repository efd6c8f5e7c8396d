// The steady clock, which tests replace.
#pragma once

#include <chrono>

namespace festa {

// Thread-safe; outlives what uses it.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual std::chrono::steady_clock::time_point now() const = 0;
};

class SteadyTimeSource : public TimeSource {
 public:
  std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::now();
  }
};

inline const SteadyTimeSource kSteadyTime;

}  // namespace festa
