// Wiring: the only place that names concrete classes and talks to Drogon's application object.
#pragma once

#include "app/lab.h"

namespace festa {

// Serves until SIGTERM or SIGINT has been handled; see drain.h for how it stops. Once per process.
// `lab` is called if the settings want one. Throws when the service cannot start.
void serve(const Config& config, MakeLab lab);

}  // namespace festa
