// What "in the order of arrival" means: the one definition for tests, load tests and the lab.
#pragma once

#include "lock/lock_storage.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace festa::lock {

// One grant of a key. All times are of one steady clock.
struct OrderedGrant {
  SteadyTime sent;      // the request was not on its way before
  SteadyTime received;  // the storage had the request at the latest, see Lease::received
  std::int64_t fence;   // fences tell who was granted first; when a holder learns of it does not
};

// Indices into the grants.
struct Overtaking {
  std::size_t overtaken;
  std::size_t by;
};

// Order is promised between two requests only if the storage had received one of them before the
// other was sent: that one must be granted first. Of two that were under way at the same time
// either may be the first. The result has one entry for each grant that was overtaken, in the order
// of `grants`. `grants` are of one key and of one storage.
std::vector<Overtaking> overtakingsIn(const std::vector<OrderedGrant>& grants);

}  // namespace festa::lock
