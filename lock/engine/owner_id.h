// Names for holds that no other process, and no other hold of this one, will ever use.
#pragma once

#include <random>
#include <string>

namespace festa::lock {

// 128 random bits in hex, drawn once per storage; a counter is appended per acquisition.
inline std::string randomOwnerPrefix() {
  static constexpr char kHex[] = "0123456789abcdef";
  std::random_device device;
  std::string prefix;
  for (int word = 0; word < 4; ++word) {
    auto bits = device();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) prefix += kHex[bits & 15];
  }
  return prefix + '-';
}

}  // namespace festa::lock
