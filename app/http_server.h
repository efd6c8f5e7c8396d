// Drogon's HTTP server as configured.
#pragma once

#include "app/config/config.h"
#include "app/operations/metrics.h"
#include "controllers/http/client_address.h"
#include "controllers/http/connections.h"
#include "controllers/http/drain.h"

#include <memory>
#include <vector>

namespace festa {

// Listeners, threads, limits of connections and requests. Before app().run(). Throws ConfigError.
// Returns the server's connections, which Drogon shares until the process ends.
std::shared_ptr<Connections> configureHttp(const Config& config, Metrics& metrics,
                                           std::shared_ptr<Drain> drain);

// The addresses whose X-Forwarded-For is believed. Throws ConfigError.
std::vector<AddressRange> trustedProxies(const Config::Http& config);

}  // namespace festa
