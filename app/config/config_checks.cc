#include "app/config/config_checks.h"

#include <algorithm>
#include <cctype>

namespace festa {

namespace {

constexpr const char* kDemoSecret = "demo-secret-demo-secret-demo-secret";

void checkEnvironment(const Config& config) {
  if (config.isProduction() && config.lab)
    throw ConfigError("lab", "must be false when environment is production");
  if (config.isProduction() && config.demo)
    throw ConfigError("demo", "must be false when environment is production");
  if (config.queue.work.count() > 0 && !config.lab)
    throw ConfigError("queue.work_ms", "is for the lab only");
}

bool isPathSegment(const std::string& text) {
  const auto isPlain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), isPlain);
}

void checkApiPrefix(const std::string& prefix) {
  if (prefix.empty()) return;
  bool isPath = prefix.front() == '/';
  for (std::size_t start = 1; isPath && start <= prefix.size();) {
    const auto end = std::min(prefix.find('/', start), prefix.size());
    isPath = isPathSegment(prefix.substr(start, end - start));
    start = end + 1;
  }
  if (!isPath)
    throw ConfigError(
        "http.api_prefix",
        "must be empty or like /api (letters, digits, - and _ between slashes), not '" + prefix +
            "'");
}

void checkMetricsListener(const Config& config) {
  // Without a port of its own, /metrics stays readable at the public one.
  if (config.metrics.port == 0 && !config.metrics.address.empty())
    throw ConfigError("metrics.address", "needs metrics.port");
  if (config.metrics.port == config.http.port)
    throw ConfigError("metrics.port", "must not be http.port; 0 serves /metrics there");
}

void checkSecret(const Config& config) {
  if (config.isProduction() && config.auth.jwtSecret == kDemoSecret)
    throw ConfigError(
        "auth.jwt_secret",
        "is the demo's, which everybody knows; set one of your own, e.g. the output of 'openssl "
        "rand -hex 32'");
  if (config.auth.jwtSecret.size() < 32)
    throw ConfigError("auth.jwt_secret", "must have at least 32 bytes");
}

void checkRedlockNodes(const Config::Redlock& redlock) {
  const auto& nodes = redlock.nodes;
  if (nodes.empty()) return;
  if (nodes.size() < 3 || nodes.size() % 2 == 0)
    throw ConfigError("redlock.nodes", "must name an odd number of servers, at least three, not " +
                                           std::to_string(nodes.size()));
  for (const auto& node : nodes)
    if (std::count(nodes.begin(), nodes.end(), node) > 1)
      throw ConfigError("redlock.nodes", "names " + node.text() + " more than once");
}

void checkConnections(const Config& config) {
  if (config.database.connections < config.ioThreads())
    throw ConfigError("database.connections", "must be at least the number of threads (" +
                                                  std::to_string(config.ioThreads()) + ")");
}

}  // namespace

void useDemoSecret(Config& config) {
  if (config.auth.jwtSecret.empty() && config.demo) config.auth.jwtSecret = kDemoSecret;
}

void checkConfig(const Config& config) {
  checkEnvironment(config);
  checkApiPrefix(config.http.apiPrefix);
  checkMetricsListener(config);
  checkSecret(config);
  checkRedlockNodes(config.redlock);
  checkConnections(config);
}

}  // namespace festa
