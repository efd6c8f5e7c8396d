#include "lock/grant_order.h"

#include <algorithm>
#include <numeric>

namespace festa::lock {

std::vector<Overtaking> overtakingsIn(const std::vector<OrderedGrant>& grants) {
  std::vector<std::size_t> bySent(grants.size());
  std::iota(bySent.begin(), bySent.end(), std::size_t{0});
  std::ranges::sort(bySent, {}, [&](std::size_t grant) { return grants[grant].sent; });
  // At each place: who was granted first among those that were sent then or later.
  auto firstFrom = bySent;
  for (std::size_t i = firstFrom.size(); i-- > 1;)
    if (grants[firstFrom[i]].fence < grants[firstFrom[i - 1]].fence)
      firstFrom[i - 1] = firstFrom[i];
  std::vector<Overtaking> found;
  for (std::size_t grant = 0; grant < grants.size(); ++grant) {
    const auto later = std::ranges::upper_bound(
        bySent, grants[grant].received, {}, [&](std::size_t other) { return grants[other].sent; });
    if (later == bySent.end()) continue;
    const auto first = firstFrom[static_cast<std::size_t>(later - bySent.begin())];
    if (grants[first].fence < grants[grant].fence) found.push_back({grant, first});
  }
  return found;
}

}  // namespace festa::lock
