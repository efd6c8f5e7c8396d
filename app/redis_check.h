// What must be true of a Redis server before locks are trusted to it.
#pragma once

#include "app/config.h"

namespace festa {

// Connects, and refuses a server that may evict keys: an evicted hold is a lock given away. Throws
// ConfigError or std::runtime_error with a sentence for the operator.
void checkRedis(const Config::Redis& config);

}  // namespace festa
