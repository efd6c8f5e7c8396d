#include "app/website.h"

#include "app/http_server.h"

namespace festa {

namespace {

// Bounds of what is kept in memory.
constexpr std::size_t kSoldSeatsKnown = 100'000;
constexpr std::size_t kPerformanceCards = 1000;
constexpr std::size_t kLimitedNames = 100'000;
constexpr std::size_t kRenderedListBytes = 64UL * 1024 * 1024;

IdempotencySettings idempotencySettings(const Config::Idempotency& config) {
  return {config.claim, config.keep};
}

std::unique_ptr<RateLimiter> limiterOf(std::int64_t perMinute) {
  return perMinute > 0 ? std::make_unique<RateLimiter>(perMinute, kLimitedNames) : nullptr;
}

CallerLimits limitsOf(const Config& config) {
  return {limiterOf(config.limits.loginsPerMinute), limiterOf(config.limits.writesPerMinute),
          trustedProxies(config.http)};
}

std::shared_ptr<ClaimStreams> streamsOf(const Config::Queue& config, const ClaimReader& claims) {
  return std::make_shared<ClaimStreams>(
      claims, std::make_shared<StreamPlaces>(config.maxStreams, config.maxStreamsPerUser));
}

EdgeSettings edgeSettings(const Config& config) {
  return {config.http.maxBodyBytes, config.http.corsOrigins, config.http.maxRequests,
          config.http.apiPrefix, config.metrics.port};
}

std::string firstSegment(const std::string& path) {
  return path.substr(0, path.find('/', 1));
}

// A prefix that begins like a route would hide it.
void requireFreePrefix(const std::string& prefix, const RouteTable& routes) {
  for (const auto& route : routes.all())
    if (!prefix.empty() && firstSegment(prefix) == firstSegment(route.pattern))
      throw ConfigError("configuration: 'http.api_prefix' would hide " + route.pattern);
}

}  // namespace

Services::Services(const Config& config, const Database& database, Accounts& accounts)
    : announcements(database),
      councils(database, accounts.hasher, accounts.tokens, accounts.versions),
      festivals(database),
      users(database, accounts.hasher, accounts.tokens),
      performances(database),
      sold(kSoldSeatsKnown),
      reservations(database, sold),
      coupons(database),
      claims(database),
      claimExpiry(database, config.queue.claimTimeout),
      idempotency(database, idempotencySettings(config.idempotency)) {}

Website::Website(const Foundation& on)
    : callers_(on.accounts.tokens, on.accounts.versions, limitsOf(on.config)),
      idempotency_(on.services.idempotency),
      pipeline_({callers_, idempotency_, on.locks.protections(), on.locks.board(), on.metrics}),
      lists_({.maxBytes = kRenderedListBytes}),
      cards_(on.services.performances, kPerformanceCards),
      streams_(streamsOf(on.config.queue, on.services.claims)),
      metricsPage_(on.metrics),
      operations_(on.database, on.locks, on.queues, metricsPage_, *on.drain),
      lockAdmin_(on.locks.board(), on.locks.redis(), on.config.redis.prefix),
      councils_(on.services.councils),
      festivals_(on.services.festivals),
      announcements_(on.services.announcements, lists_),
      users_(on.services.users),
      performances_(on.services.performances, lists_),
      reservations_(on.services.reservations, cards_, on.services.sold),
      coupons_(on.services.coupons, on.services.claims, *streams_),
      edge_(edgeSettings(on.config), routes_, callers_, on.metrics, on.drain) {
  Routes routes(routes_, pipeline_);
  publish(routes);
  DocsController::verify(routes_);
  requireFreePrefix(on.config.http.apiPrefix, routes_);
  on.metrics.addGauge("festa_rendered_list_bytes",
                      "Rendered lists that are kept for their readers.",
                      [this] { return static_cast<double>(lists_.bytes()); });
  edge_.install();
}

void Website::publish(Routes& routes) const {
  operations_.publish(routes);
  lockAdmin_.publish(routes);
  councils_.publish(routes);
  festivals_.publish(routes);
  announcements_.publish(routes);
  users_.publish(routes);
  performances_.publish(routes);
  reservations_.publish(routes);
  coupons_.publish(routes);
  docs_.publish(routes);
}

}  // namespace festa
