#include "app/http_settings.h"

namespace festa {

namespace {

constexpr std::size_t kLimitedNames = 100'000;  // bounds what is kept in memory

std::vector<AddressRange> trustedProxies(const Config& config) {
  std::vector<AddressRange> proxies;
  for (const auto& proxy : config.http.trustedProxies) {
    const auto range = AddressRange::parse(proxy);
    if (!range)
      throw ConfigError("configuration: 'http.trusted_proxies' names no address or network: " +
                        proxy);
    proxies.push_back(*range);
  }
  return proxies;
}

std::unique_ptr<RateLimiter> limiterOf(std::int64_t perMinute) {
  return perMinute > 0 ? std::make_unique<RateLimiter>(perMinute, kLimitedNames) : nullptr;
}

}  // namespace

HttpFrontSettings httpFrontSettings(const Config& config) {
  return {config.http.maxBodyBytes, config.http.corsOrigins, config.http.maxRequests,
          config.http.apiPrefix, config.metrics.port};
}

HttpServerSettings httpServerSettings(const Config& config) {
  const auto& http = config.http;
  return {
      .address = http.address,
      .port = http.port,
      .metricsAddress = config.metrics.address,
      .metricsPort = config.metrics.port,
      .threads = config.ioThreads(),
      .maxBodyBytes = http.maxBodyBytes,
      .headerSeconds = inSeconds(http.headerTimeout),
      .bodyBytesPerSecond = http.bodyBytesPerSecond,
      .bodyGraceSeconds = inSeconds(http.bodyGrace),
      .stalledReaderSeconds = inSeconds(http.unreadTimeout),
      .connections = {http.maxConnections, http.maxConnectionsPerAddress, trustedProxies(config)}};
}

CallerLimits callerLimits(const Config& config) {
  return {limiterOf(config.limits.loginsPerMinute), limiterOf(config.limits.writesPerMinute),
          trustedProxies(config)};
}

StreamBounds::Limits streamLimits(const Config& config) {
  return {.streamsPerAddress = config.http.maxStreamsPerAddress, .proxies = trustedProxies(config)};
}

}  // namespace festa
