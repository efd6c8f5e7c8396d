// What must be true of the database before the service starts.
#pragma once

#include "app/config.h"

#include <cstdint>

namespace festa {

// Migrates, loads demo data when asked to, opens or checks the door to unguarded rows (lab,
// production), and draws this process's lock epoch. Throws ConfigError or std::runtime_error with a
// sentence for the operator.
std::int64_t prepareDatabase(const Config& config);

}  // namespace festa
