// Wiring: the only place that names concrete classes and talks to Drogon's application object.
#pragma once

#include "app/config/config.h"

namespace festa {

// Serves until SIGTERM or SIGINT has been handled; see drain.h for how it stops. Once per process.
// Throws when the service cannot start.
void serve(const Config& config);

}  // namespace festa
