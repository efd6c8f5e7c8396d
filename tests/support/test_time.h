// A clock that a test sets.
#pragma once

#include "services/time_source.h"
#include "tests/support/kept_forever.h"

#include <functional>

namespace festa::test {

class TestTime : public TimeSource {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit TestTime(std::function<Time()> read) : read_(std::move(read)) {}
  Time now() const override { return read_(); }

 private:
  const std::function<Time()> read_;
};

inline const TimeSource& timeBy(std::function<TestTime::Time()> read) {
  return keptForever(std::make_unique<TestTime>(std::move(read)));
}

}  // namespace festa::test
