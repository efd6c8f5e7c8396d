// The rows of the storages on Redis, see lock/storages.h.
#pragma once

#include "lock/storages.h"

namespace festa::lock {

std::vector<StorageRow> redisStorages();

}  // namespace festa::lock
