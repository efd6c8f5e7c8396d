// How long to sleep between two attempts, and the randomness for that; never for secrets.
#pragma once

#include "lock/lock_storage.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace festa::lock {

// Uniform over all values. Thread-safe.
inline std::uint32_t randomBits() {
  thread_local std::mt19937 random{std::random_device{}()};
  return static_cast<std::uint32_t>(random());
}

// Doubles from `first` to `most`; each pause is drawn from the upper half of the current ceiling,
// so that those who collided do not come back together, and no loop is busy. Pure: randomness comes
// in.
class Backoff {
 public:
  using Pause = std::chrono::microseconds;

  constexpr Backoff(Millis first, Millis most) : ceiling_(first), most_(most) {}

  // `random` is uniform over all values.
  Pause next(std::uint32_t random) {
    const auto half = ceiling_ / 2;
    const auto share = static_cast<double>(random) / static_cast<double>(UINT32_MAX);
    const auto pause =
        half +
        Pause(static_cast<Pause::rep>(static_cast<double>((ceiling_ - half).count()) * share));
    ceiling_ = std::min<Pause>(ceiling_ * 2, most_);
    return pause;
  }

 private:
  Pause ceiling_;
  Pause most_;
};

}  // namespace festa::lock
