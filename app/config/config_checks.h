// Settings that are right one by one and cannot work together.
#pragma once

#include "app/config/config.h"

namespace festa {

// A demo without `auth.jwt_secret` gets a published secret: the tokens of a demo protect nothing.
void useDemoSecret(Config& config);

// Throws ConfigError.
void checkConfig(const Config& config);

}  // namespace festa
