#include "controllers/live/hall_order.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace festa {

std::vector<std::int64_t> hallOrder(const std::vector<HallTurn>& halls) {
  auto byWeight = halls;
  auto byAge = halls;
  std::ranges::stable_sort(byWeight, std::ranges::greater(), &HallTurn::weight);
  std::ranges::stable_sort(byAge, std::ranges::less(), &HallTurn::lastLook);
  std::vector<std::int64_t> order;
  std::unordered_set<std::int64_t> known;
  const auto add = [&](std::int64_t id) {
    if (known.insert(id).second) order.push_back(id);
  };
  for (std::size_t i = 0; i < halls.size(); ++i) {
    add(byWeight[i].id);
    add(byAge[i].id);
  }
  return order;
}

}  // namespace festa
