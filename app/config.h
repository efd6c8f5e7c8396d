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
};

struct LockOverride {
  std::string strategy;
  std::optional<std::int64_t> waitMs;
  std::optional<std::int64_t> leaseMs;
  std::optional<std::int64_t> maxHoldMs;
  std::optional<bool> failFast;
};

struct Config {
  std::string environment = "development";  // or production
  bool lab = false;
  bool demo = false;
  std::string timezone = "Asia/Seoul";
  std::string logLevel = "info";

  struct Http {
    std::string address = "127.0.0.1";
    std::int64_t port = 8080;
    std::int64_t threads = 0;  // 0: one per core, at most one per connection
    std::int64_t maxBodyBytes = 1024L * 1024;
    std::vector<std::string> corsOrigins = {};
    std::string apiPrefix = "/api";             // ignored at the start of a path; "": none
    std::int64_t maxConnections = 0;            // 0: what the limit of open files leaves
    std::int64_t maxConnectionsPerAddress = 0;  // 0: no limit
    std::int64_t headerTimeoutMs = 10'000;      // from a request's first byte to its last header
    std::int64_t bodyBytesPerSecond = 1024;     // on average, after bodyGraceMs; 0: no limit
    std::int64_t bodyGraceMs = 10'000;
    std::int64_t unreadTimeoutMs = 30'000;         // a client that takes nothing is closed
    std::int64_t maxInFlight = 0;                  // holders of locks; 0: 4 × database connections
    std::int64_t maxRequests = 60'000;             // read and not yet answered, waiters included
    std::vector<std::string> trustedProxies = {};  // addresses or networks
    std::int64_t drainDelayMs = 2000;
    std::int64_t drainLimitMs = 30000;
  } http;

  // A listener for /metrics and /healthz alone.
  struct Metrics {
    std::int64_t port = 0;  // 0: none, /metrics is on http.port
    std::string address;    // empty: http.address
  } metrics;

  struct Database {
    std::string host = "127.0.0.1";
    std::int64_t port = 5432;
    std::string name = "festabook";
    std::string user = "festabook";
    std::string password;
    std::int64_t connections = 32;
    std::int64_t connectTimeoutMs = 30000;  // how long start waits for the server
    std::int64_t poolTimeoutMs =
        750;  // waiting for a connection, and the client's patience per statement
    std::int64_t statementTimeoutMs = 220;
    std::int64_t lockTimeoutMs = 200;
    std::int64_t commitTimeoutMs = 500;
  } database;

  struct Redis {
    std::string host;  // one numeric address; empty: no Redis
    std::int64_t port = 6379;
    std::string user;
    std::string password;
    std::int64_t database = 0;
    std::int64_t connections = 1;  // per event loop; one carries a turn's commands in one write
    std::int64_t connectTimeoutMs = 10000;  // how long start waits for the server
    std::int64_t timeoutMs = 300;           // the client's patience per command
    std::string prefix = "festabook";
  } redis;

  struct Redlock {
    struct Node {
      std::string host;
      std::int64_t port = 0;

      bool operator==(const Node&) const = default;
      std::string text() const { return host + ":" + std::to_string(port); }
    };
    std::vector<Node> nodes;  // numeric addresses; empty: no Redlock
    std::string user;
    std::string password;
    std::int64_t database = 0;
    std::int64_t connections = 1;           // per event loop and node
    std::int64_t connectTimeoutMs = 10000;  // how long start waits for a majority
    std::int64_t timeoutMs = 50;            // the patience with one node
    std::int64_t maxLeaseMs = 10000;        // the same in all processes; also the quarantine
    std::string prefix = "festabook";
  } redlock;

  struct RabbitMq {
    std::string host;  // empty: no broker
    std::int64_t port = 5672;
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
    std::string prefix = "festabook";  // of the queues' names
  } rabbitmq;

  // Claims that wait their turn.
  struct Queue {
    std::int64_t workers = 4;  // per process
    std::int64_t deliveryLimit = 5;
    std::int64_t claimTimeoutSeconds = 600;
    std::int64_t sweepSeconds = 5;
    std::int64_t workMs = 0;  // the slow part; lab only
    std::int64_t maxStreams = 1000;
    std::int64_t maxStreamsPerUser = 5;
  } queue;

  struct Auth {
    std::string jwtSecret;
    std::int64_t tokenMinutes = 24L * 60;
    std::int64_t passwordPollMs = 1000;  // between looks for changed passwords
    std::int64_t hashThreads = 2;
    std::int64_t hashQueue = 64;
  } auth;

  // 0: no limit. Unless configured, there is none in the demo.
  struct Limits {
    // Per client address; registrations and changes of passwords count, these also per account.
    std::int64_t loginsPerMinute = 30;
    std::int64_t writesPerMinute = 600;  // per caller
  } limits;

  struct Idempotency {
    std::int64_t claimMs = 15000;  // a request that runs longer may be repeated
    std::int64_t keepHours = 24;
    std::int64_t sweepSeconds = 600;  // between clean-ups
  } idempotency;

  struct Lock {
    std::string strategy = "memory";
    std::int64_t instances = 1;  // how many processes share the database
    std::int64_t maxWaitersPerKey = 10000;
    std::int64_t maxWaiters = 50000;
    std::map<std::string, LockOverride> lockables = {};
  } lock;

  bool isProduction() const { return environment == "production"; }
  std::int64_t ioThreads() const;
  std::int64_t inFlightLimit() const;
};

// Locks whose strategy, wait, lease and longest hold can be configured: the names of all Lockables.
inline constexpr std::array kLockableNames{"announcement-pins", "seats", "coupons"};

// Statements of the longest guarded transaction that commits, besides BEGIN and COMMIT: fence, look
// at the stored one, fence again with a renewed token, look at the announcement, write, keep the
// answer for an idempotency key.
constexpr std::int64_t kLongestPathStatements = 6;

// Reads `json` (an object; "" for none), then FESTA_<SECTION>_<KEY> variables over it, then checks
// all of it. Throws ConfigError for unknown keys, wrong types and combinations that cannot work.
// `variables` holds the process's variables by name.
Config readConfig(const std::string& json, const std::map<std::string, std::string>& variables);

// FESTA_… variables of this process.
std::map<std::string, std::string> festaEnvironment();

}  // namespace festa
