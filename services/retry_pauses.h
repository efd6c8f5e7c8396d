// The pauses between the attempts of work that is repeated until it succeeds.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace festa {

// Each pause is drawn from the upper half of a ceiling that doubles from `first` to `longest`, so
// that callers whose attempts collided do not repeat them together. Not thread-safe.
class RetryPauses {
 public:
  using Pause = std::chrono::microseconds;

  constexpr RetryPauses(Pause first, Pause longest) : ceiling_(first), longest_(longest) {}

  // Returns the next pause and doubles the ceiling.
  Pause next() {
    thread_local std::mt19937 random{std::random_device{}()};
    const Pause drawn(
        std::uniform_int_distribution<Pause::rep>(ceiling_.count() / 2, ceiling_.count())(random));
    skip();
    return drawn;
  }

  // Doubles the ceiling as next() does, for an attempt whose pause was taken elsewhere.
  constexpr void skip() { ceiling_ = std::min(ceiling_ * 2, longest_); }

 private:
  Pause ceiling_;
  Pause longest_;
};

}  // namespace festa
