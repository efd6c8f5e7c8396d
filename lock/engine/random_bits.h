// Randomness for pauses; never for secrets.
#pragma once

#include <cstdint>
#include <random>

namespace festa::lock {

// Uniform over all values. Thread-safe.
inline std::uint32_t randomBits() {
  thread_local std::mt19937 random{std::random_device{}()};
  return static_cast<std::uint32_t>(random());
}

}  // namespace festa::lock
