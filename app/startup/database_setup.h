// What must be true of the database before the service starts.
#pragma once

#include "app/config/config.h"
#include "services/accounts/password_versions.h"

#include <cstdint>

namespace festa {

// Migrates, loads demo data if configured, allows rows without backstop (lab) or checks that the
// schema forbids them (production), refuses known passwords (production), fills `passwords` and
// draws this process's lock epoch. Throws ConfigError or std::runtime_error with a sentence for the
// operator.
std::int64_t prepareDatabase(const Config& config, PasswordVersions& passwords);

}  // namespace festa
