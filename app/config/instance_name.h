// What this process is called among the others of its service.
#pragma once

#include "app/config/config.h"

#include <string>

namespace festa {

// The machine's name and the port, e.g. web1:8080: processes that serve at the same time have
// different names. Letters, digits, `.`, `-`, `_` and `:` only, at most 80 of them.
std::string instanceName(const Config& config);

// The rule above for any machine's name.
std::string instanceName(const std::string& machine, std::uint16_t port);

}  // namespace festa
