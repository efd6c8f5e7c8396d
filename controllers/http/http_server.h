// Drogon's HTTP server: listeners, threads, limits of connections and requests.
#pragma once

#include "controllers/http/connections.h"
#include "controllers/http/drain.h"

#include <cstdint>
#include <memory>
#include <string>

namespace festa {

struct HttpServerSettings {
  std::string address;
  std::uint16_t port;
  std::string metricsAddress;  // "": the same
  std::uint16_t metricsPort;   // 0: no listener of its own, see HttpFrontSettings
  std::size_t threads;
  std::size_t maxBodyBytes;
  // What one client may cost.
  double headerSeconds;
  std::size_t bodyBytesPerSecond;
  double bodyGraceSeconds;
  double stalledReaderSeconds;
  ConnectionLimits connections;  // inAll 0: as many as the limit of open files allows
};

// Configures the server; before app().run(). Returns its connections, which Drogon shares until the
// process ends.
std::shared_ptr<Connections> configureHttpServer(const HttpServerSettings& settings,
                                                 std::shared_ptr<Drain> drain);

}  // namespace festa
