// Settings that are right one by one and cannot work together.
#pragma once

#include "app/config.h"

namespace festa {

// A demo without a secret gets a known one: people start it to look, and its tokens are worth
// nothing.
void useDemoSecret(Config& config);

// Throws ConfigError.
void checkConfig(const Config& config);

}  // namespace festa
