// How much one look of a feed may do. Pure.
#pragma once

#include <chrono>
#include <cstddef>

namespace festa {

// Not thread-safe.
class LookBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Limits {
    std::size_t reads;
    std::size_t bytes;
    std::chrono::milliseconds time;
  };

  LookBudget(Limits limits, Time began) : limits_(limits), began_(began) {}

  // One statement has been answered with so much text.
  void read(std::size_t bytes) {
    ++reads_;
    bytes_ += bytes;
  }
  // What is left waits for the next look.
  bool isSpent(Time now) const {
    return reads_ >= limits_.reads || bytes_ >= limits_.bytes || now - began_ >= limits_.time;
  }

 private:
  const Limits limits_;
  const Time began_;
  std::size_t reads_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace festa
