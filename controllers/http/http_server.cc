#include "controllers/http/http_server.h"

#include <drogon/HttpAppFramework.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace festa {

namespace {

// What one client may cost, and all of them together.
drogon::HttpLimits httpLimits(const HttpServerSettings& settings) {
  drogon::HttpLimits limits;
  limits.headerSeconds = settings.headerSeconds;
  limits.bodyBytesPerSecond = settings.bodyBytesPerSecond;
  limits.bodyGraceSeconds = settings.bodyGraceSeconds;
  limits.stalledReaderSeconds = settings.stalledReaderSeconds;
  limits.pipelinedRequests = 4;
  limits.unsentBytes = 256UL * 1024;
  limits.unsentBytesInAll = 64UL * 1024 * 1024;
  limits.bodyBytesInAll = 64UL * 1024 * 1024;
  return limits;
}

void addListeners(const HttpServerSettings& settings) {
  auto& app = drogon::app();
  app.addListener(settings.address, settings.port);
  // Told apart from the main one by the port, see HttpFront.
  if (settings.metricsPort == 0) return;
  app.addListener(settings.metricsAddress.empty() ? settings.address : settings.metricsAddress,
                  settings.metricsPort);
}

}  // namespace

std::shared_ptr<Connections> configureHttpServer(const HttpServerSettings& settings,
                                                 std::shared_ptr<Drain> drain) {
  addListeners(settings);
  auto limits = settings.connections;
  const auto files = raiseFileLimit();
  if (limits.inAll == 0) limits.inAll = defaultConnectionLimit(files);
  // Drogon's server tells of connections until the process ends.
  auto connections = std::make_shared<Connections>(std::move(limits), std::move(drain));
  drogon::app()
      .setThreadNum(settings.threads)
      .setClientMaxBodySize(settings.maxBodyBytes)
      .setClientMaxMemoryBodySize(settings.maxBodyBytes)
      .setHttpLimits(httpLimits(settings))
      .enableGzip(false)
      .enableBrotli(false)
      .enableServerHeader(false)
      .disableSigtermHandling()
      .setAfterAcceptSockOptCallback([](int socket) {
        const int on = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      })
      .setConnectionCallback([connections](const trantor::TcpConnectionPtr& connection) {
        connections->changed(connection);
      });
  return connections;
}

}  // namespace festa
