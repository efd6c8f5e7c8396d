// What must be true of a Redis server before locks are trusted to it.
#pragma once

#include "app/config/config.h"

namespace festa {

// Connects, and refuses a server that may evict keys: an evicted hold is a lock given away. Throws
// ConfigError or std::runtime_error with a sentence for the operator.
void checkRedis(const Config::Redis& config);

// The same for each node that can be reached; besides, a node must forget everything or nothing
// when it restarts: no persistence, or every write on disk before its answer. Waits for a majority;
// a minority that cannot be reached is told and does no harm.
void checkRedlock(const Config::Redlock& config);

}  // namespace festa
