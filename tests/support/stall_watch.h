// The control of a test that measures time: how long the machine makes a thread wait that has
// nothing to do.
#pragma once

#include "tests/support/size.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace festa::test {

// A thread that sleeps for a few milliseconds again and again, and knows its longest sleep, from
// the constructor on.
class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // So far, with the sleep that still lasts. Thread-safe.
  Clock::duration longest() const {
    // The thread writes them in the other order: a sleep that ends meanwhile is in one of them.
    const auto woken = woken_.load();
    return std::max(longest_.load(), Clock::now() - woken);
  }
  double longestSeconds() const { return std::chrono::duration<double>(longest()).count(); }
  // What may take so many seconds may take this much on this machine: each of the processes on the
  // way, the client, the service and PostgreSQL, may be stalled once.
  // Sanitizers make all of them slower.
  double allowed(double seconds) const {
    return seconds * (kSanitized ? 10 : 1) + 3 * longestSeconds();
  }

 private:
  void watch(const std::stop_token& wish) {
    while (!wish.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const auto now = Clock::now();
      longest_ = std::max(longest_.load(), now - woken_.load());
      woken_ = now;
    }
  }

  std::atomic<Clock::time_point> woken_{Clock::now()};
  std::atomic<Clock::duration> longest_{Clock::duration::zero()};
  std::jthread thread_{[this](const std::stop_token& wish) { watch(wish); }};  // uses the others
};

inline double secondsSince(StallWatch::Clock::time_point then) {
  return std::chrono::duration<double>(StallWatch::Clock::now() - then).count();
}

}  // namespace festa::test
