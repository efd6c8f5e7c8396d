#include "app/config/config.h"

#include "app/config/config_checks.h"
#include "app/config/config_fields.h"
#include "app/config/config_source.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

namespace festa {

namespace {

using namespace std::chrono_literals;

constexpr auto kDay = 24h;

Section generalSection(Config& config) {
  return {"",
          "The process as a whole.",
          {
              {"environment", Choice{&config.environment, {"development", "production"}},
               "`production` refuses lab and demo mode, the demo's secret, and a database with "
               "accounts that have their demo passwords."},
              {"lab", &config.lab, "Requests may choose how they are protected."},
              {"demo", &config.demo,
               "Loads demo data, with known passwords and, unless `auth.jwt_secret` is set, a "
               "known secret; there are no `limits` unless they are set."},
              {"timezone", &config.timezone, "The time zone of the times in answers."},
              {"log_level", Choice{&config.logLevel, {"trace", "debug", "info", "warn", "error"}},
               "Lines below this level are not written."},
          }};
}

std::vector<Field> listenerFields(Config::Http& http) {
  return {
      {"http.address", &http.address, "The address to listen on."},
      {"http.port", within(http.port, 1, 65535), "The port to listen on."},
      {"http.threads", within(http.threads, 0, 256),
       "Event loops; 0: one per core, at most one per connection to the database."},
      {"http.max_body_bytes", within(http.maxBodyBytes, 1024, 64UL * 1024 * 1024),
       "Larger bodies are 413."},
      {"http.cors_origins", &http.corsOrigins, "Allowed origins; `*` for any."},
      {"http.api_prefix", &http.apiPrefix,
       "Ignored at the start of a path; `Location` gets it back; empty: none. Letters, digits, `-` "
       "and `_` between slashes."},
      {"http.trusted_proxies", &http.trustedProxies,
       "Addresses or networks whose `X-Forwarded-For` is believed. They must append to the "
       "client's line or replace it: nginx does; HAProxy's `option forwardfor` adds a second line, "
       "and only the first is read, so put `http-request del-header X-Forwarded-For` before it."},
      {"http.drain_delay_ms", within(http.drainDelay, 0ms, kDay),
       "After SIGTERM: how long the process is not ready and still serves."},
      {"http.drain_limit_ms", within(http.drainLimit, 100ms, kDay),
       "How long stopping waits for requests in flight."},
  };
}

std::vector<Field> doorFields(Config::Http& http) {
  return {
      {"http.max_connections", within(http.maxConnections, 0, 10'000'000),
       "Connected clients; 0: the hard limit of open files less 1,000 (the soft limit is raised at "
       "start). Beyond: closed at once, counted in `festa_http_connections_refused_total`."},
      {"http.max_connections_per_address", within(http.maxConnectionsPerAddress, 0, 10'000'000),
       "The same per client address, never for `http.trusted_proxies`; 0: no limit."},
      {"http.header_timeout_ms", within(http.headerTimeout, 100ms, kDay),
       "From the first byte of a request to the end of its headers; then 408 `REQUEST_TIMEOUT`, "
       "closed."},
      {"http.body_bytes_per_second", within(http.bodyBytesPerSecond, 0, 1'000'000'000),
       "What a body must keep on average once `http.body_grace_ms` is over, else 408; 0: no "
       "limit."},
      {"http.body_grace_ms", within(http.bodyGrace, 0ms, kDay),
       "How long a body may be slower than `http.body_bytes_per_second`."},
      {"http.unread_timeout_ms", within(http.unreadTimeout, 1s, kDay),
       "A client that takes less than 1 KiB a second of its answers for so long, on average, is "
       "closed."},
      {"http.max_in_flight", within(http.maxInFlight, 0, 1'000'000),
       "Requests that hold a lock at once; 0: 4 × `database.connections`, and 4 × "
       "`database.batch_members` if that is above 1. Beyond: 503 `OVERLOADED`."},
      {"http.max_requests", within(http.maxRequests, 1, 10'000'000),
       "Requests read and not yet answered, those that wait for a lock included. Beyond: 503 "
       "`OVERLOADED`."},
      {"http.max_seat_watchers", within(http.maxSeatWatchers, 0, 1'000'000),
       "Streams of `GET /performances/{id}/seats/events` in one process. Beyond: 503 "
       "`OVERLOADED`."},
      {"http.max_streams_per_address", within(http.maxStreamsPerAddress, 0, 1'000'000),
       "Event streams of all kinds that one client address (of IPv6: one /64 network) has in one "
       "process. Beyond: 429 `RATE_LIMITED`. A campus or a mobile network may be one address; "
       "behind a proxy set `http.trusted_proxies`, or all clients are one. 0: no limit."},
  };
}

Section httpSection(Config::Http& http) {
  auto fields = listenerFields(http);
  for (auto& field : doorFields(http)) fields.push_back(std::move(field));
  return {"http", "The listener of the API, and what a client may do.", std::move(fields)};
}

Section metricsSection(Config::Metrics& metrics) {
  return {"metrics",
          "A listener of its own for `/metrics` and `/healthz`, which has nothing else.",
          {
              {"metrics.port", within(metrics.port, 0, 65535),
               "Its port; `/metrics` is then 404 on `http.port`. 0: there is no such listener, and "
               "`/metrics` is on `http.port`."},
              {"metrics.address", &metrics.address,
               "The address it listens on; empty: `http.address`. Needs `metrics.port`."},
          }};
}

Section databaseSection(Config::Database& database) {
  return {
      "database",
      "PostgreSQL.",
      {
          {"database.host", &database.host, "One numeric address."},
          {"database.port", within(database.port, 1, 65535), "The server's port."},
          {"database.name", &database.name, "The database."},
          {"database.user", &database.user, "The role to log in as."},
          {"database.password", &database.password, "The role's password."},
          {"database.connections", within(database.connections, 1, 10'000),
           "Shared out among the event loops, at least one for each. Drogon adds one loop's "
           "share that idles; `/readyz` and the look for changed passwords have one more per "
           "loop."},
          {"database.batch_connections", within(database.batchConnections, 1, 1000),
           "Besides, for transactions that several requests share; shared out in the same way."},
          {"database.batch_members", within(database.batchMembers, 1, 64),
           "At most this many requests share a transaction; 1: each has its own."},
          {"database.connect_timeout_ms", within(database.connectTimeout, 0ms, kDay),
           "How long a start waits for the server."},
          {"database.pool_timeout_ms", within(database.poolTimeout, 10ms, kDay),
           "How long a request waits for a connection; also the client's patience per "
           "statement."},
          {"database.statement_timeout_ms", within(database.statementTimeout, 10ms, kDay),
           "PostgreSQL's `statement_timeout`."},
          {"database.lock_timeout_ms", within(database.lockTimeout, 10ms, kDay),
           "PostgreSQL's `lock_timeout`."},
          {"database.commit_timeout_ms", within(database.commitTimeout, 10ms, kDay),
           "How long a write waits for the acknowledgement of its COMMIT."},
      }};
}

Section redisSection(Config::Redis& redis) {
  return {"redis",
          "One Redis, for the strategies `redis-…`. It needs `maxmemory-policy noeviction`.",
          {
              {"redis.host", &redis.host, "One numeric address; empty: no Redis."},
              {"redis.port", within(redis.port, 1, 65535), "The server's port."},
              {"redis.user", &redis.user, "The ACL user; empty: the default one."},
              {"redis.password", &redis.password, "Empty: no AUTH is sent."},
              {"redis.database", within(redis.database, 0, 1'000'000), "The database's number."},
              {"redis.connections", within(redis.connections, 1, 1000),
               "Connections per event loop. Drogon takes two seconds to replace a lost one; with "
               "more than one the others go on meanwhile, and each command costs more."},
              {"redis.connect_timeout_ms", within(redis.connectTimeout, 0ms, kDay),
               "How long a start waits for the server."},
              {"redis.timeout_ms", within(redis.timeout, 10ms, kDay),
               "The client's patience per command."},
              {"redis.prefix", &redis.prefix, "The beginning of the names of all keys."},
          }};
}

Section redlockSection(Config::Redlock& redlock) {
  return {
      "redlock",
      "Independent Redis servers, for the strategy `redlock`.",
      {
          {"redlock.nodes", &redlock.nodes,
           "At least three servers, an odd number, with numeric addresses; empty: no Redlock."},
          {"redlock.user", &redlock.user, "The ACL user; empty: the default one."},
          {"redlock.password", &redlock.password, "Empty: no AUTH is sent."},
          {"redlock.database", within(redlock.database, 0, 1'000'000), "The database's number."},
          {"redlock.connections", within(redlock.connections, 1, 1000),
           "Connections per event loop and node."},
          {"redlock.connect_timeout_ms", within(redlock.connectTimeout, 0ms, kDay),
           "How long a start waits for a majority."},
          {"redlock.timeout_ms", within(redlock.timeout, 5ms, kDay), "A node's time to answer."},
          {"redlock.max_lease_ms", within(redlock.maxLease, 1ms, kDay),
           "The longest lease there can be, and the quarantine of a restarted node. The same "
           "in all processes."},
          {"redlock.prefix", &redlock.prefix, "The beginning of the names of all keys."},
      }};
}

Section rabbitMqSection(Config::RabbitMq& rabbitmq) {
  return {"rabbitmq",
          "The broker, for the strategy `queue-rabbitmq`.",
          {
              {"rabbitmq.host", &rabbitmq.host, "Empty: no broker."},
              {"rabbitmq.port", within(rabbitmq.port, 1, 65535), "The broker's port."},
              {"rabbitmq.user", &rabbitmq.user, "The user to log in as."},
              {"rabbitmq.password", &rabbitmq.password, "The user's password."},
              {"rabbitmq.vhost", &rabbitmq.vhost, "The virtual host."},
              {"rabbitmq.prefix", &rabbitmq.prefix, "The beginning of the names of the queues."},
          }};
}

Section queueSection(Config::Queue& queue) {
  return {
      "queue",
      "Claims of coupons that wait their turn, with `queue-local` and `queue-rabbitmq`.",
      {
          {"queue.workers", within(queue.workers, 1, 10'000),
           "Claims worked on at a time in each process."},
          {"queue.delivery_limit", within(queue.deliveryLimit, 1, 1000), "Tries of each claim."},
          {"queue.claim_timeout_seconds", within(queue.claimTimeout, 1s, 7 * kDay),
           "A claim that is not finished within this time has failed."},
          {"queue.sweep_seconds", within(queue.sweepEvery, 1s, 1h),
           "Between looks for unconfirmed and for failed claims."},
          {"queue.work_ms", within(queue.work, 0ms, kDay),
           "The slow part of each claim; lab only."},
          {"queue.max_streams", within(queue.maxStreams, 0, 1'000'000),
           "Event streams of one process. Beyond: 503 `OVERLOADED`."},
          {"queue.max_streams_per_user", within(queue.maxStreamsPerUser, 0, 1'000'000),
           "Event streams of one user in one process. Beyond: 429."},
      }};
}

Section notificationSection(Config::Notifications& notifications) {
  return {"notifications",
          "Notifications of announcements, and the pages that listen to them.",
          {
              {"notifications.max_streams", within(notifications.maxStreams, 0, 1'000'000),
               "Event streams of one process. Beyond: 503 `OVERLOADED`."},
              {"notifications.keep_seconds", within(notifications.keep, 10s, 7 * kDay),
               "How long a page may be away and still be told what it has missed."},
              {"notifications.sweep_seconds", within(notifications.sweepEvery, 1s, kDay),
               "Between removals of notifications that are older."},
          }};
}

Section authSection(Config::Auth& auth) {
  return {"auth",
          "Tokens and passwords.",
          {
              {"auth.jwt_secret", &auth.jwtSecret,
               "Signs the tokens; at least 32 bytes, e.g. the output of `openssl rand -hex 32`. A "
               "new one ends all tokens. Needed, except in the demo."},
              {"auth.token_minutes", within(auth.tokenLife, 1min, 366 * kDay),
               "How long a token lives; a shorter time also ends tokens issued before."},
              {"auth.password_poll_ms", within(auth.passwordPoll, 10ms, 1s),
               "Between an instance's looks for passwords changed elsewhere."},
              {"auth.hash_threads", within(auth.hashThreads, 1, 64),
               "Threads that hash passwords, off the event loops."},
              {"auth.hash_queue", within(auth.hashQueue, 1, 100'000),
               "Passwords that wait for such a thread."},
          }};
}

Section limitsSection(Config::Limits& limits) {
  return {"limits",
          "Counted in each process; beyond: 429; 0: no limit. The demo has none unless they are "
          "set.",
          {
              {"limits.logins_per_minute", within(limits.loginsPerMinute, 0, 1'000'000),
               "Per client address; registrations and changes of passwords count, these also per "
               "account."},
              {"limits.writes_per_minute", within(limits.writesPerMinute, 0, 60'000'000),
               "Authenticated writes per caller."},
          }};
}

Section idempotencySection(Config::Idempotency& idempotency) {
  return {"idempotency",
          "What an `Idempotency-Key` keeps.",
          {
              {"idempotency.claim_ms", within(idempotency.attempt, 100ms, kDay),
               "A request that still runs after this time may be repeated."},
              {"idempotency.keep_hours", within(idempotency.keep, 1h, 366 * kDay),
               "How long answers are kept."},
              {"idempotency.sweep_seconds", within(idempotency.sweepEvery, 1s, kDay),
               "Between clean-ups."},
          }};
}

Section raceSection(Config::Race& race) {
  return {"race",
          "The races of the lab, `/lab`.",
          {
              {"race.door_port", within(race.doorPort, 0, 65535),
               "The port at 127.0.0.1 that a race's crowd goes to, e.g. of a proxy before several "
               "instances; 0: the service's own."},
          }};
}

Section lockSection(Config::Lock& lock) {
  return {"lock",
          "The lock filter.",
          {
              {"lock.strategy", &lock.strategy,
               "For all locks that say nothing else; docs/strategies.md has the names."},
              {"lock.instances", within(lock.instances, 1, 10'000),
               "Processes on this database; strategies that work inside one process refuse more "
               "than one outside the lab."},
              {"lock.max_waiters_per_key", within(lock.maxWaitersPerKey, 0, 10'000'000),
               "Requests that wait for one key. Beyond: 503 `OVERLOADED`."},
              {"lock.max_waiters", within(lock.maxWaiters, 0, 10'000'000),
               "Requests that wait for any key. Beyond: 503 `OVERLOADED`."},
          }};
}

Section lockableSection(const std::string& name, LockOverride& entry) {
  const auto section = "lock.lockables." + name;
  return {section,
          "Changes to the lock `" + name + "`.",
          {
              {section + ".strategy", &entry.strategy, "Empty: `lock.strategy`."},
              {section + ".wait_ms", within(entry.wait, 0ms, kDay),
               "How long a request waits for its turn."},
              {section + ".lease_ms", within(entry.lease, 1ms, kDay),
               "How long a hold lasts unless it is renewed."},
              {section + ".max_hold_ms", within(entry.maxHold, 0ms, kDay),
               "The lease is renewed while the handler runs, up to this time in all; 0: never."},
              {section + ".fail_fast", &entry.failFast,
               "A request that finds the lock taken is refused at once instead of waiting."},
              {section + ".together", within(entry.together, 1, 64),
               "At most this many requests of one process that stand next to each other in line "
               "hold the key together and share a transaction; no more than the lock allows."},
          }};
}

}  // namespace

std::vector<Section> sectionsOf(Config& config) {
  std::vector<Section> sections{
      generalSection(config),
      httpSection(config.http),
      metricsSection(config.metrics),
      databaseSection(config.database),
      redisSection(config.redis),
      redlockSection(config.redlock),
      rabbitMqSection(config.rabbitmq),
      queueSection(config.queue),
      notificationSection(config.notifications),
      authSection(config.auth),
      limitsSection(config.limits),
      idempotencySection(config.idempotency),
      raceSection(config.race),
      lockSection(config.lock),
  };
  for (const std::string name : kLockableNames)
    sections.push_back(lockableSection(name, config.lock.lockables[name]));
  return sections;
}

std::string variableName(const std::string& key) {
  std::string name = "FESTA_";
  for (const char c : key)
    name +=
        c == '.' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::size_t Config::ioThreads() const {
  if (http.threads > 0) return http.threads;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min(cores, database.connections);
}

std::size_t Config::inFlightLimit() const {
  if (http.maxInFlight > 0) return http.maxInFlight;
  const auto shared = database.batchMembers > 1 ? database.batchMembers : 0;
  return 4 * (database.connections + shared);
}

Config readConfig(const std::string& json, const std::map<std::string, std::string>& variables) {
  Source source(json, variables);
  Config config;
  for (const auto& section : sectionsOf(config)) {
    // People try a demo from one address; `demo` itself has been read before.
    if (section.name == "limits" && config.demo) config.limits = {0, 0};
    for (const auto& field : section.fields) source.read(field);
  }
  source.requireAllRead();
  useDemoSecret(config);
  checkConfig(config);
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
