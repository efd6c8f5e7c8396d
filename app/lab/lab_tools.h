// What load tests need of a lab: many users, and tokens without logging in.
#pragma once

#include "app/config/config.h"

#include <string>
#include <vector>

namespace festa {

// Both throw ConfigError outside the lab.

// Users user1 … user<count> exist afterwards, all with the demo's password and one hash. How many
// are new.
std::int64_t seedUsers(const Config& config, std::int64_t count);

// A token for the user or council of each name. Throws ConfigError for an unknown name.
std::vector<std::string> tokensFor(const Config& config, const std::vector<std::string>& names);

}  // namespace festa
