// The settings of controllers/http, as configuration has them.
#pragma once

#include "app/config/config.h"
#include "controllers/http/caller_check.h"
#include "controllers/http/http_front.h"
#include "controllers/http/http_server.h"
#include "controllers/live/stream_bounds.h"

namespace festa {

HttpFrontSettings httpFrontSettings(const Config& config);

// Those that have addresses throw ConfigError when 'http.trusted_proxies' names what is none.
HttpServerSettings httpServerSettings(const Config& config);
CallerLimits callerLimits(const Config& config);
StreamBounds::Limits streamLimits(const Config& config);

}  // namespace festa
