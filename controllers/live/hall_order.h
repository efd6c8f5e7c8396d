// Which watched halls a look reads first. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace festa {

struct HallTurn {
  std::int64_t id;
  double weight;  // the shares of its watchers, see EventSink::shareOfAddress()
  std::chrono::steady_clock::time_point lastLook;
};

// By turns the heaviest hall and the one that was not looked at for the longest time. An address
// weighs 1 in all, however many streams it has in however many halls: it cannot push the halls of
// others back, and each hall has its turn.
std::vector<std::int64_t> hallOrder(const std::vector<HallTurn>& halls);

}  // namespace festa
