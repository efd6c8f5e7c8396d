// How much a test does: enough for every run, or the long rows of ./dev test --full.
#pragma once

#include <cstdlib>
#include <string>

namespace festa::test {

// Sanitizers make everything several times slower; they look for other things than numbers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kFindsLeaks = true;
#else
constexpr bool kFindsLeaks = false;
#endif

inline int sized(int usual, int full) {
  const char* wish = std::getenv("TEST_SIZE");
  return wish != nullptr && std::string(wish) == "full" ? full : usual;
}

}  // namespace festa::test
