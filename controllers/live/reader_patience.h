// How long a stream waits for a reader that takes less than it is sent. Pure.
#pragma once

#include <chrono>
#include <optional>

namespace festa {

// The same for all streams. Not thread-safe.
class ReaderPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kLongest{10};

  // False: the reader has been behind, whenever it was looked at, for longer than that.
  bool lasts(Time now, bool isBehind) {
    if (!isBehind) {
      behindSince_.reset();
      return true;
    }
    if (!behindSince_) behindSince_ = now;
    return now - *behindSince_ < kLongest;
  }

 private:
  std::optional<Time> behindSince_;
};

}  // namespace festa
