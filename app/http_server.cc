#include "app/http_server.h"

#include <drogon/HttpAppFramework.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace festa {

std::vector<AddressRange> trustedProxies(const Config::Http& config) {
  std::vector<AddressRange> proxies;
  for (const auto& proxy : config.trustedProxies) {
    const auto range = AddressRange::parse(proxy);
    if (!range)
      throw ConfigError("configuration: 'http.trusted_proxies' names no address or network: " +
                        proxy);
    proxies.push_back(*range);
  }
  return proxies;
}

namespace {

// What one client may cost, and all of them together.
drogon::HttpLimits httpLimits(const Config::Http& config) {
  drogon::HttpLimits limits;
  limits.headerSeconds = inSeconds(config.headerTimeout);
  limits.bodyBytesPerSecond = config.bodyBytesPerSecond;
  limits.bodyGraceSeconds = inSeconds(config.bodyGrace);
  limits.stalledReaderSeconds = inSeconds(config.unreadTimeout);
  limits.pipelinedRequests = 4;
  limits.unsentBytes = 256UL * 1024;
  limits.unsentBytesInAll = 64UL * 1024 * 1024;
  limits.bodyBytesInAll = 64UL * 1024 * 1024;
  return limits;
}

std::shared_ptr<Connections> limitConnections(const Config& config, Metrics& metrics,
                                              std::shared_ptr<Drain> drain) {
  const auto files = raiseFileLimit();
  const auto wished = config.http.maxConnections;
  // Drogon's server tells of connections until the process ends.
  auto connections = std::make_shared<Connections>(
      ConnectionLimits{wished > 0 ? wished : defaultConnectionLimit(files),
                       config.http.maxConnectionsPerAddress, trustedProxies(config.http)},
      std::move(drain));
  metrics.addGauge("festa_http_connections", "Clients that are connected.",
                   [connections] { return static_cast<double>(connections->open()); });
  metrics.addCounterSource("festa_http_connections_refused_total",
                           "Connections closed at once because there were too many.", {},
                           [connections] { return static_cast<double>(connections->refused()); });
  drogon::app().setConnectionCallback([connections](const trantor::TcpConnectionPtr& connection) {
    connections->changed(connection);
  });
  return connections;
}

// Told apart from the main one by the port, see Edge.
void addMetricsListener(const Config& config) {
  const auto& metrics = config.metrics;
  if (metrics.port == 0) return;
  drogon::app().addListener(metrics.address.empty() ? config.http.address : metrics.address,
                            metrics.port);
}

void configureServer(const Config& config) {
  auto& app = drogon::app();
  const auto largestBody = config.http.maxBodyBytes;
  app.addListener(config.http.address, config.http.port)
      .setThreadNum(config.ioThreads())
      .setClientMaxBodySize(largestBody)
      .setClientMaxMemoryBodySize(largestBody)
      .setHttpLimits(httpLimits(config.http))
      .enableGzip(false)
      .enableBrotli(false)
      .enableServerHeader(false)
      .disableSigtermHandling()
      .setAfterAcceptSockOptCallback([](int socket) {
        const int on = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      });
}

}  // namespace

std::shared_ptr<Connections> configureHttp(const Config& config, Metrics& metrics,
                                           std::shared_ptr<Drain> drain) {
  configureServer(config);
  addMetricsListener(config);
  return limitConnections(config, metrics, std::move(drain));
}

}  // namespace festa
