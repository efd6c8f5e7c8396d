// The settings of one process, read once at start.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace festa {

// Says which key is wrong and what it may be.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ConfigError(const std::string& key, const std::string& why)
      : std::runtime_error("configuration: '" + key + "' " + why) {}
};

// What is not set stays as the Lockable declares it.
struct LockOverride {
  std::string strategy;
  std::optional<std::chrono::milliseconds> wait;
  std::optional<std::chrono::milliseconds> lease;
  std::optional<std::chrono::milliseconds> maxHold;
  std::optional<bool> failFast;
  std::size_t together = 64;  // or what the Lockable declares, if that is less
};

// Locks whose strategy, wait, lease and longest hold can be configured: the names of all Lockables.
inline constexpr std::array kLockableNames{"announcement-pins", "questions", "event-dates", "seats",
                                           "coupons"};

// The values are the defaults. The table in config.cc says of each member what it means and what it
// may be; docs/configuration.md is that table in print.
struct Config {
  std::string environment = "development";
  bool lab = false;
  bool demo = false;
  std::string timezone = "Asia/Seoul";
  std::string logLevel = "info";

  struct Http {
    std::string address = "127.0.0.1";
    std::uint16_t port = 8080;
    std::size_t threads = 0;
    std::size_t maxBodyBytes = 1024UL * 1024;
    std::vector<std::string> corsOrigins = {};
    std::string apiPrefix = "/api";
    std::size_t maxConnections = 0;
    std::size_t maxConnectionsPerAddress = 0;
    std::chrono::milliseconds headerTimeout{10'000};
    std::size_t bodyBytesPerSecond = 1024;
    std::chrono::milliseconds bodyGrace{10'000};
    std::chrono::milliseconds unreadTimeout{30'000};
    std::size_t maxInFlight = 0;
    std::int64_t maxRequests = 60'000;
    std::size_t maxSeatWatchers = 5000;
    std::size_t maxStreamsPerAddress = 2500;
    std::vector<std::string> trustedProxies = {};
    std::chrono::milliseconds drainDelay{2000};
    std::chrono::milliseconds drainLimit{30'000};
  } http;

  struct Metrics {
    std::uint16_t port = 0;
    std::string address;
  } metrics;

  struct Database {
    std::string host = "127.0.0.1";
    std::uint16_t port = 5432;
    std::string name = "festabook";
    std::string user = "festabook";
    std::string password;
    std::size_t connections = 32;
    std::size_t batchConnections = 4;
    std::size_t batchMembers = 64;
    std::chrono::milliseconds connectTimeout{30'000};
    std::chrono::milliseconds poolTimeout{500};
    std::chrono::milliseconds statementTimeout{220};
    std::chrono::milliseconds lockTimeout{200};
    std::chrono::milliseconds commitTimeout{500};
  } database;

  struct Redis {
    std::string host;
    std::uint16_t port = 6379;
    std::string user;
    std::string password;
    unsigned database = 0;
    std::size_t connections = 1;
    std::chrono::milliseconds connectTimeout{10'000};
    std::chrono::milliseconds timeout{300};
    std::string prefix = "festabook";
  } redis;

  struct Redlock {
    struct Node {
      std::string host;
      std::uint16_t port = 0;

      bool operator==(const Node&) const = default;
      std::string text() const { return host + ":" + std::to_string(port); }
    };
    std::vector<Node> nodes;
    std::string user;
    std::string password;
    unsigned database = 0;
    std::size_t connections = 1;
    std::chrono::milliseconds connectTimeout{10'000};
    std::chrono::milliseconds timeout{50};
    std::chrono::milliseconds maxLease{10'000};
    std::string prefix = "festabook";
  } redlock;

  struct RabbitMq {
    std::string host;
    std::uint16_t port = 5672;
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
    std::string prefix = "festabook";
  } rabbitmq;

  struct Queue {
    std::uint16_t workers = 4;
    std::uint16_t deliveryLimit = 5;
    std::chrono::seconds claimTimeout{600};
    std::chrono::seconds sweepEvery{5};
    std::chrono::milliseconds work{0};
    std::size_t maxStreams = 1000;
    std::size_t maxStreamsPerUser = 5;
  } queue;

  struct Notifications {
    std::size_t maxStreams = 5000;
    std::chrono::seconds keep{3600};
    std::chrono::seconds sweepEvery{60};
  } notifications;

  struct Auth {
    std::string jwtSecret;
    std::chrono::minutes tokenLife{24 * 60};
    std::chrono::milliseconds passwordPoll{1000};
    std::size_t hashThreads = 2;
    std::size_t hashQueue = 64;
  } auth;

  struct Limits {
    std::int64_t loginsPerMinute = 30;
    std::int64_t writesPerMinute = 600;
  } limits;

  struct Idempotency {
    std::chrono::milliseconds attempt{15'000};
    std::chrono::hours keep{24};
    std::chrono::seconds sweepEvery{600};
  } idempotency;

  struct Race {
    std::uint16_t doorPort = 0;
  } race;

  struct Lock {
    std::string strategy = "memory";
    std::size_t instances = 1;
    std::size_t maxWaitersPerKey = 10'000;
    std::size_t maxWaiters = 50'000;
    std::map<std::string, LockOverride> lockables = {};
  } lock;

  bool isProduction() const { return environment == "production"; }
  std::size_t ioThreads() const;
  std::size_t inFlightLimit() const;
};

// Reads `json` (an object; "" for none), then FESTA_<SECTION>_<KEY> variables over it, then checks
// all of it. Throws ConfigError for unknown keys, wrong types and combinations that cannot work.
// `variables` holds the process's variables by name.
Config readConfig(const std::string& json, const std::map<std::string, std::string>& variables);

// As Drogon counts time.
inline double inSeconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

// FESTA_… variables of this process.
std::map<std::string, std::string> festaEnvironment();

}  // namespace festa
