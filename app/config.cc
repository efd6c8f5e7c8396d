#include "app/config.h"

#include <json/json.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

namespace festa {

namespace {

[[noreturn]] void fail(const std::string& key, const std::string& why) {
  throw ConfigError("configuration: '" + key + "' " + why);
}

std::string variableName(const std::string& key) {
  std::string name = "FESTA_";
  for (const char c : key)
    name +=
        c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::vector<std::string> splitList(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');)
    if (!item.empty()) items.push_back(item);
  return items;
}

std::int64_t toNumber(const std::string& key, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    fail(key, "must be a whole number, not '" + text + "'");
  return number;
}

// Takes the values out of the JSON and the environment by dotted key, and knows in the end what
// nobody asked for.
class Source {
 public:
  Source(const std::string& json, std::map<std::string, std::string> variables)
      : variables_(std::move(variables)) {
    if (json.empty()) return;
    Json::CharReaderBuilder builder;
    Json::CharReaderBuilder::strictMode(&builder.settings_);
    builder["allowComments"] = true;
    const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
    Json::Value root;
    std::string errors;
    try {
      if (!reader->parse(json.data(), json.data() + json.size(), &root, &errors) ||
          !root.isObject())
        throw ConfigError("configuration: the file is not a JSON object: " + errors);
    } catch (const Json::Exception&) {
      throw ConfigError("configuration: the file is nested too deeply");
    }
    flatten("", root);
  }

  void read(const std::string& key, std::string& into) {
    if (const auto* value = take(key)) {
      if (!value->isString()) fail(key, "must be a string");
      into = value->asString();
    }
    if (const auto text = takeVariable(key)) into = *text;
  }

  void read(const std::string& key, bool& into) {
    if (const auto* value = take(key)) {
      if (!value->isBool()) fail(key, "must be true or false");
      into = value->asBool();
    }
    if (const auto text = takeVariable(key)) {
      if (*text != "true" && *text != "false")
        fail(key, "must be true or false, not '" + *text + "'");
      into = *text == "true";
    }
  }

  void read(const std::string& key, std::int64_t& into, std::int64_t least, std::int64_t most) {
    if (const auto* value = take(key)) {
      if (!value->isInt64() || value->type() == Json::realValue)
        fail(key, "must be a whole number");
      into = value->asInt64();
    }
    if (const auto text = takeVariable(key)) into = toNumber(key, *text);
    if (into < least || into > most)
      fail(key, "must be from " + std::to_string(least) + " to " + std::to_string(most) + ", not " +
                    std::to_string(into));
  }

  void read(const std::string& key, std::optional<std::int64_t>& into, std::int64_t least,
            std::int64_t most) {
    if (!values_.contains(key) && !variables_.contains(variableName(key))) return;
    read(key, into.emplace(0), least, most);
  }

  void read(const std::string& key, std::optional<bool>& into) {
    if (!values_.contains(key) && !variables_.contains(variableName(key))) return;
    read(key, into.emplace(false));
  }

  void read(const std::string& key, std::vector<std::string>& into) {
    if (const auto* value = take(key)) {
      if (!value->isArray()) fail(key, "must be a list of strings");
      into.clear();
      for (const auto& item : *value) {
        if (!item.isString()) fail(key, "must be a list of strings");
        into.push_back(item.asString());
      }
    }
    if (const auto text = takeVariable(key)) into = splitList(*text);
  }

  void requireAllRead() const {
    for (const auto& [key, value] : values_) {
      const bool isEmptySection = value.isObject() && sections_.contains(key);
      if (!isEmptySection) fail(key, "is not a setting of this program");
    }
    for (const auto& [name, value] : variables_)
      throw ConfigError("configuration: the environment variable " + name +
                        " is not a setting of this program");
  }

 private:
  void flatten(const std::string& prefix, const Json::Value& object) {
    for (const auto& name : object.getMemberNames()) {
      const auto key = prefix.empty() ? name : prefix + '.' + name;
      if (object[name].isObject() && !object[name].empty())
        flatten(key, object[name]);
      else
        values_[key] = object[name];
    }
  }

  const Json::Value* take(const std::string& key) {
    for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
      sections_.insert(key.substr(0, dot));
    const auto found = values_.find(key);
    if (found == values_.end()) return nullptr;
    taken_.push_back(std::make_unique<Json::Value>(std::move(found->second)));
    values_.erase(found);
    return taken_.back().get();
  }

  std::optional<std::string> takeVariable(const std::string& key) {
    const auto node = variables_.extract(variableName(key));
    return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
  }

  std::map<std::string, Json::Value> values_;
  std::map<std::string, std::string> variables_;
  std::vector<std::unique_ptr<Json::Value>> taken_;
  std::set<std::string> sections_;  // all that contain a setting
};

constexpr std::int64_t kDay = 24L * 60 * 60 * 1000;

void readHttp(Source& source, Config::Http& http) {
  source.read("http.address", http.address);
  source.read("http.port", http.port, 1, 65535);
  source.read("http.threads", http.threads, 0, 256);
  source.read("http.max_body_bytes", http.maxBodyBytes, 1024, 64L * 1024 * 1024);
  source.read("http.cors_origins", http.corsOrigins);
  source.read("http.api_prefix", http.apiPrefix);
  source.read("http.max_connections", http.maxConnections, 0, 10'000'000);
  source.read("http.max_connections_per_address", http.maxConnectionsPerAddress, 0, 10'000'000);
  source.read("http.header_timeout_ms", http.headerTimeoutMs, 100, kDay);
  source.read("http.body_bytes_per_second", http.bodyBytesPerSecond, 0, 1'000'000'000);
  source.read("http.body_grace_ms", http.bodyGraceMs, 0, kDay);
  source.read("http.unread_timeout_ms", http.unreadTimeoutMs, 1000, kDay);
  source.read("http.max_in_flight", http.maxInFlight, 0, 1'000'000);
  source.read("http.max_requests", http.maxRequests, 1, 10'000'000);
  source.read("http.trusted_proxies", http.trustedProxies);
  source.read("http.drain_delay_ms", http.drainDelayMs, 0, kDay);
  source.read("http.drain_limit_ms", http.drainLimitMs, 100, kDay);
}

void readMetrics(Source& source, Config::Metrics& metrics) {
  source.read("metrics.port", metrics.port, 0, 65535);
  source.read("metrics.address", metrics.address);
}

void readDatabase(Source& source, Config::Database& database) {
  source.read("database.host", database.host);
  source.read("database.port", database.port, 1, 65535);
  source.read("database.name", database.name);
  source.read("database.user", database.user);
  source.read("database.password", database.password);
  source.read("database.connections", database.connections, 1, 10'000);
  source.read("database.connect_timeout_ms", database.connectTimeoutMs, 0, kDay);
  source.read("database.pool_timeout_ms", database.poolTimeoutMs, 10, kDay);
  source.read("database.statement_timeout_ms", database.statementTimeoutMs, 10, kDay);
  source.read("database.lock_timeout_ms", database.lockTimeoutMs, 10, kDay);
  source.read("database.commit_timeout_ms", database.commitTimeoutMs, 10, kDay);
}

void readRedis(Source& source, Config::Redis& redis) {
  source.read("redis.host", redis.host);
  source.read("redis.port", redis.port, 1, 65535);
  source.read("redis.user", redis.user);
  source.read("redis.password", redis.password);
  source.read("redis.database", redis.database, 0, 1'000'000);
  source.read("redis.connections", redis.connections, 1, 1000);
  source.read("redis.connect_timeout_ms", redis.connectTimeoutMs, 0, kDay);
  source.read("redis.timeout_ms", redis.timeoutMs, 10, kDay);
  source.read("redis.prefix", redis.prefix);
}

// "host:port"
Config::Redlock::Node toNode(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    fail("redlock.nodes", "must be a list of host:port, not '" + text + "'");
  const auto port = toNumber("redlock.nodes", text.substr(colon + 1));
  if (port < 1 || port > 65535)
    fail("redlock.nodes", "must have ports from 1 to 65535, not '" + text + "'");
  return {text.substr(0, colon), port};
}

void readRedlock(Source& source, Config::Redlock& redlock) {
  std::vector<std::string> nodes;
  source.read("redlock.nodes", nodes);
  for (const auto& node : nodes) redlock.nodes.push_back(toNode(node));
  source.read("redlock.user", redlock.user);
  source.read("redlock.password", redlock.password);
  source.read("redlock.database", redlock.database, 0, 1'000'000);
  source.read("redlock.connections", redlock.connections, 1, 1000);
  source.read("redlock.connect_timeout_ms", redlock.connectTimeoutMs, 0, kDay);
  source.read("redlock.timeout_ms", redlock.timeoutMs, 5, kDay);
  source.read("redlock.max_lease_ms", redlock.maxLeaseMs, 1, kDay);
  source.read("redlock.prefix", redlock.prefix);
}

void readRabbitMq(Source& source, Config::RabbitMq& rabbitmq) {
  source.read("rabbitmq.host", rabbitmq.host);
  source.read("rabbitmq.port", rabbitmq.port, 1, 65535);
  source.read("rabbitmq.user", rabbitmq.user);
  source.read("rabbitmq.password", rabbitmq.password);
  source.read("rabbitmq.vhost", rabbitmq.vhost);
  source.read("rabbitmq.prefix", rabbitmq.prefix);
}

void readQueue(Source& source, Config::Queue& queue, bool lab) {
  source.read("queue.workers", queue.workers, 1, 10'000);
  source.read("queue.delivery_limit", queue.deliveryLimit, 1, 1000);
  source.read("queue.claim_timeout_seconds", queue.claimTimeoutSeconds, 1, 7L * 24 * 60 * 60);
  source.read("queue.sweep_seconds", queue.sweepSeconds, 1, 3600);
  source.read("queue.work_ms", queue.workMs, 0, kDay);
  source.read("queue.max_streams", queue.maxStreams, 0, 1'000'000);
  source.read("queue.max_streams_per_user", queue.maxStreamsPerUser, 0, 1'000'000);
  if (queue.workMs > 0 && !lab) fail("queue.work_ms", "is for the lab only");
}

void readAuth(Source& source, Config::Auth& auth) {
  source.read("auth.jwt_secret", auth.jwtSecret);
  source.read("auth.token_minutes", auth.tokenMinutes, 1, 366L * 24 * 60);
  source.read("auth.password_poll_ms", auth.passwordPollMs, 10, 1000);
  source.read("auth.hash_threads", auth.hashThreads, 1, 64);
  source.read("auth.hash_queue", auth.hashQueue, 1, 100'000);
}

void readLimits(Source& source, Config::Limits& limits, bool demo) {
  if (demo) limits = {0, 0};
  source.read("limits.logins_per_minute", limits.loginsPerMinute, 0, 1'000'000);
  source.read("limits.writes_per_minute", limits.writesPerMinute, 0, 60'000'000);
}

void readIdempotency(Source& source, Config::Idempotency& idempotency) {
  source.read("idempotency.claim_ms", idempotency.claimMs, 100, kDay);
  source.read("idempotency.keep_hours", idempotency.keepHours, 1, 24L * 366);
  source.read("idempotency.sweep_seconds", idempotency.sweepSeconds, 1, 24L * 60 * 60);
}

void readLock(Source& source, Config::Lock& lock) {
  source.read("lock.strategy", lock.strategy);
  source.read("lock.instances", lock.instances, 1, 10'000);
  source.read("lock.max_waiters_per_key", lock.maxWaitersPerKey, 0, 10'000'000);
  source.read("lock.max_waiters", lock.maxWaiters, 0, 10'000'000);
  for (const std::string name : kLockableNames) {
    const auto key = "lock.lockables." + name;
    auto& entry = lock.lockables[name];
    source.read(key + ".strategy", entry.strategy);
    source.read(key + ".wait_ms", entry.waitMs, 0, kDay);
    source.read(key + ".lease_ms", entry.leaseMs, 1, kDay);
    source.read(key + ".max_hold_ms", entry.maxHoldMs, 0, kDay);
    source.read(key + ".fail_fast", entry.failFast);
  }
}

void checkEnvironment(const Config& config) {
  if (config.environment != "development" && config.environment != "production")
    fail("environment", "must be development or production, not '" + config.environment + "'");
  if (config.isProduction() && config.lab)
    fail("lab", "must be false when environment is production");
  if (config.isProduction() && config.demo)
    fail("demo", "must be false when environment is production");
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
    fail("http.api_prefix",
         "must be empty or like /api (letters, digits, - and _ between slashes), not '" + prefix +
             "'");
}

void checkMetricsListener(const Config& config) {
  // Else somebody believes that nobody else can read them.
  if (config.metrics.port == 0 && !config.metrics.address.empty())
    fail("metrics.address", "needs metrics.port");
  if (config.metrics.port == config.http.port)
    fail("metrics.port", "must not be http.port; 0 serves /metrics there");
}

constexpr const char* kDemoSecret = "demo-secret-demo-secret-demo-secret";

void checkSecret(Config& config) {
  // A demo is started by people who want to look; its tokens are worth nothing.
  if (config.auth.jwtSecret.empty() && config.demo) config.auth.jwtSecret = kDemoSecret;
  if (config.isProduction() && config.auth.jwtSecret == kDemoSecret)
    fail("auth.jwt_secret",
         "is the demo's, which everybody knows; set one of your own, e.g. the output of 'openssl "
         "rand -hex 32'");
  if (config.auth.jwtSecret.size() < 32) fail("auth.jwt_secret", "must have at least 32 bytes");
}

void checkRedlockNodes(const Config::Redlock& redlock) {
  const auto& nodes = redlock.nodes;
  if (nodes.empty()) return;
  if (nodes.size() < 3 || nodes.size() % 2 == 0)
    fail("redlock.nodes",
         "must name an odd number of servers, at least three, not " + std::to_string(nodes.size()));
  for (const auto& node : nodes)
    if (std::count(nodes.begin(), nodes.end(), node) > 1)
      fail("redlock.nodes", "names " + node.text() + " more than once");
}

void checkLevel(const Config& config) {
  static const std::set<std::string> kLevels{"trace", "debug", "info", "warn", "error"};
  if (!kLevels.contains(config.logLevel))
    fail("log_level", "must be trace, debug, info, warn or error");
}

}  // namespace

std::int64_t Config::ioThreads() const {
  if (http.threads > 0) return http.threads;
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min(cores, database.connections);
}

std::int64_t Config::inFlightLimit() const {
  return http.maxInFlight > 0 ? http.maxInFlight : 4 * database.connections;
}

Config readConfig(const std::string& json, const std::map<std::string, std::string>& variables) {
  Source source(json, variables);
  Config config;
  source.read("environment", config.environment);
  source.read("lab", config.lab);
  source.read("demo", config.demo);
  source.read("timezone", config.timezone);
  source.read("log_level", config.logLevel);
  readHttp(source, config.http);
  readMetrics(source, config.metrics);
  readDatabase(source, config.database);
  readRedis(source, config.redis);
  readRedlock(source, config.redlock);
  readRabbitMq(source, config.rabbitmq);
  readQueue(source, config.queue, config.lab);
  readAuth(source, config.auth);
  readLimits(source, config.limits, config.demo);
  readIdempotency(source, config.idempotency);
  readLock(source, config.lock);
  source.requireAllRead();
  checkEnvironment(config);
  checkApiPrefix(config.http.apiPrefix);
  checkMetricsListener(config);
  checkSecret(config);
  checkLevel(config);
  checkRedlockNodes(config.redlock);
  if (config.database.connections < config.ioThreads())
    fail("database.connections",
         "must be at least the number of threads (" + std::to_string(config.ioThreads()) + ")");
  return config;
}

std::map<std::string, std::string> festaEnvironment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const auto equals = text.find('=');
    if (text.starts_with("FESTA_") && equals != std::string::npos)
      variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

}  // namespace festa
