// Which watched halls a look reads first. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace festa {

struct HallTurn {
  std::int64_t id;
  std::size_t watchers;
  std::chrono::steady_clock::time_point lastLook;
};

// By turns the hall that most watch and the one that was not looked at for the longest time: halls
// with few watchers, however many there are, do not slow down those with many, and each has its
// turn.
std::vector<std::int64_t> hallOrder(const std::vector<HallTurn>& halls);

}  // namespace festa
