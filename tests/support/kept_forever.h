// Things that outlive their test.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace festa::test {

// Until the end of the program: coroutines of a test that is over may still refer to it.
template <class T>
T& keptForever(std::unique_ptr<T> thing) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::unique_ptr<T>>;
  const std::lock_guard guard(mutex);
  all.push_back(std::move(thing));
  return *all.back();
}

}  // namespace festa::test
