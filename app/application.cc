#include "app/application.h"

#include "app/connections.h"
#include "app/database_setup.h"
#include "app/drain.h"
#include "app/edge.h"
#include "app/error_mapper.h"
#include "app/lab_pauses.h"
#include "app/lock_admin.h"
#include "app/lock_settings.h"
#include "app/log.h"
#include "app/loop_lag.h"
#include "app/metrics.h"
#include "app/metrics_page.h"
#include "app/operations.h"
#include "app/password_watch.h"
#include "app/queues.h"
#include "app/redis_check.h"
#include "app/strategies.h"
#include "controllers/announcement_controller.h"
#include "controllers/council_controller.h"
#include "controllers/coupon_controller.h"
#include "controllers/docs_controller.h"
#include "controllers/festival_controller.h"
#include "controllers/performance_controller.h"
#include "controllers/reservation_controller.h"
#include "controllers/user_controller.h"
#include "lock/loop_clients.h"
#include "lock/memory_lock_storage.h"
#include "lock/redis/redis_fair_lock_storage.h"
#include "lock/redis/redis_pubsub_lock_storage.h"
#include "lock/redis/redis_spin_lock_storage.h"
#include "lock/redis/redlock_lock_storage.h"

#include <drogon/HttpAppFramework.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <csignal>
#include <thread>

namespace festa {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
using std::chrono::milliseconds;

// Bounds of what is kept in memory.
constexpr std::size_t kSoldSeatsKnown = 100'000;
constexpr std::size_t kPerformanceCards = 1000;
constexpr std::size_t kLimitedNames = 100'000;
constexpr std::size_t kRenderedListBytes = 64UL * 1024 * 1024;

// Blocked before any thread exists, so that only the waiting thread below receives them.
sigset_t blockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// What one client may cost, and all of them together.
drogon::HttpLimits httpLimits(const Config::Http& config) {
  drogon::HttpLimits limits;
  limits.headerSeconds = static_cast<double>(config.headerTimeoutMs) / 1000;
  limits.bodyBytesPerSecond = static_cast<std::size_t>(config.bodyBytesPerSecond);
  limits.bodyGraceSeconds = static_cast<double>(config.bodyGraceMs) / 1000;
  limits.stalledReaderSeconds = static_cast<double>(config.unreadTimeoutMs) / 1000;
  limits.pipelinedRequests = 16;
  limits.unsentBytes = 256UL * 1024;
  limits.unsentBytesInAll = 256UL * 1024 * 1024;
  limits.bodyBytesInAll = 64UL * 1024 * 1024;
  return limits;
}

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

void limitConnections(const Config& config, Metrics& metrics) {
  const auto files = raiseFileLimit();
  const auto wished = static_cast<std::size_t>(config.http.maxConnections);
  auto connections = std::make_shared<Connections>(ConnectionLimits{
      wished > 0 ? wished : defaultConnectionLimit(files),
      static_cast<std::size_t>(config.http.maxConnectionsPerAddress), trustedProxies(config)});
  metrics.addGauge("festa_http_connections", "Clients that are connected.",
                   [connections] { return static_cast<double>(connections->open()); });
  metrics.addCounterSource("festa_http_connections_refused_total",
                           "Connections closed at once because there were too many.", {},
                           [connections] { return static_cast<double>(connections->refused()); });
  drogon::app().setConnectionCallback([connections](const trantor::TcpConnectionPtr& connection) {
    connections->changed(connection);
  });
}

// Told apart from the main one by the port, see Edge.
void addMetricsListener(const Config& config) {
  const auto& metrics = config.metrics;
  if (metrics.port == 0) return;
  drogon::app().addListener(metrics.address.empty() ? config.http.address : metrics.address,
                            static_cast<std::uint16_t>(metrics.port));
}

void configureHttp(const Config& config) {
  auto& app = drogon::app();
  const auto largestBody = static_cast<std::size_t>(config.http.maxBodyBytes);
  app.addListener(config.http.address, static_cast<std::uint16_t>(config.http.port))
      .setThreadNum(static_cast<std::size_t>(config.ioThreads()))
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
      })
      .setExceptionHandler([](const std::exception& error, const HttpRequestPtr& request,
                              std::function<void(const HttpResponsePtr&)>&& answer) {
        answer(toResponse(request, error));
      });
}

constexpr const char* kWatchClient = "watch";

// One client per loop, so that a request never leaves its thread.
Database configureDatabase(const Config& config) {
  const auto& settings = config.database;
  const auto perLoop = (settings.connections + config.ioThreads() - 1) / config.ioThreads();
  drogon::orm::PostgresConfig client;
  client.host = settings.host;
  client.port = static_cast<std::uint16_t>(settings.port);
  client.databaseName = settings.name;
  client.username = settings.user;
  client.password = settings.password;
  client.connectionNumber = static_cast<std::size_t>(perLoop);
  client.name = "default";
  client.isFast = true;
  client.timeout = static_cast<double>(settings.poolTimeoutMs) / 1000;
  client.autoBatch = false;
  client.connectOptions = {
      {"statement_timeout", std::to_string(settings.statementTimeoutMs)},
      {"lock_timeout", std::to_string(settings.lockTimeoutMs)},
      {"idle_in_transaction_session_timeout",
       std::to_string(settings.statementTimeoutMs + settings.commitTimeoutMs)},
      {"timezone", config.timezone},
      {"application_name", "festabook"},
  };
  drogon::app().addDbClient(client);
  // Whether the database answers is not asked behind all who wait for it: a proxy would take busy
  // instances for dead ones. Nor which passwords have changed: a rush must not delay it.
  client.name = kWatchClient;
  client.connectionNumber = 1;
  client.connectOptions["application_name"] = "festabook-watch";
  drogon::app().addDbClient(client);
  Database database;
  database.client = [clients = lock::fastDbClients()] { return clients->here(); };
  database.settings.commitTimeout = milliseconds(settings.commitTimeoutMs);
  return database;
}

drogon::Task<std::int64_t> drawEpoch(drogon::orm::DbClientPtr database) {
  const auto rows = co_await database->execSqlCoro("SELECT nextval('lock_epoch')");
  co_return rows[0][0].as<std::int64_t>();
}

lock::EpochSource epochsOf(const Database& database) {
  return [client = database.client] { return drawEpoch(client()); };
}

// One client per loop as for the database: the main loop's is for timers and messages.
struct Redis {
  std::shared_ptr<const lock::LoopRedisClients> clients;
  std::shared_ptr<lock::RedisCommands> commands;
};

Redis configureRedis(const Config::Redis& config) {
  drogon::app().createRedisClient(config.host, static_cast<std::uint16_t>(config.port), "default",
                                  config.password, static_cast<std::size_t>(config.connections),
                                  true, static_cast<double>(config.timeoutMs) / 1000,
                                  static_cast<unsigned>(config.database), config.user);
  Redis redis;
  redis.clients = lock::fastRedisClients();
  redis.commands =
      std::make_shared<lock::RedisCommands>([clients = redis.clients] { return clients->here(); },
                                            config.prefix + '/' + std::to_string(config.database));
  return redis;
}

std::shared_ptr<const Admission> configureAdmission(const Config& config) {
  auto admission = std::make_shared<Admission>();
  const auto& limits = config.limits;
  if (limits.loginsPerMinute > 0)
    admission->passwords = std::make_shared<RateLimiter>(limits.loginsPerMinute, kLimitedNames);
  if (limits.writesPerMinute > 0)
    admission->writes = std::make_shared<RateLimiter>(limits.writesPerMinute, kLimitedNames);
  admission->proxies = trustedProxies(config);
  return admission;
}

using Storages = std::map<std::string, std::shared_ptr<lock::LockStorage>>;

void addRedisStorages(const Config& config, const Redis& redis, const lock::EpochSource& epochs,
                      Metrics& metrics, Storages& storages) {
  const lock::LockTableLimits limits{static_cast<std::size_t>(config.lock.maxWaitersPerKey),
                                     static_cast<std::size_t>(config.lock.maxWaiters)};
  const auto holdsOf = [&](const lock::RedisKeys& keys) {
    return std::make_shared<lock::RedisHolds>(redis.commands, keys, epochs);
  };
  lock::SpinSettings spin;
  spin.maxWaiters = limits.waitersInAll;
  storages["redis-spin"] = std::make_shared<lock::RedisSpinLockStorage>(
      holdsOf(lock::RedisKeys(config.redis.prefix, "spin")), spin);

  auto* const timers = drogon::app().getLoop();
  const auto lineOf = [&](const std::string& storage) {
    const lock::RedisKeys keys(config.redis.prefix, storage);
    const lock::LineSurroundings around{
        timers, [clients = redis.clients] { return clients->here()->newSubscriber(); }, limits};
    auto line = lock::RedisLine::create(redis.commands, holdsOf(keys), keys, around);
    metrics.addCounterSource("festa_lock_offers_expired_total",
                             "Offers of a key that came too late for their receiver here.",
                             {{"strategy", "redis-" + storage}},
                             [line] { return static_cast<double>(line->offersMissed()); });
    return line;
  };
  storages["redis-fair"] = std::make_shared<lock::RedisFairLockStorage>(lineOf("fair"));
  storages["redis-pubsub"] = lock::RedisPubSubLockStorage::create(lineOf("pubsub"), timers, limits);
}

void addBoardGauges(Metrics& metrics, const std::shared_ptr<const lock::LockBoard>& board) {
  const auto samples = [board](std::size_t lock::LockBoard::Counts::*which) {
    std::vector<Metrics::Sample> all;
    for (const auto& [kind, counts] : board->counts())
      all.push_back({{{"lockable", kind.first}, {"strategy", kind.second}},
                     static_cast<double>(counts.*which)});
    return all;
  };
  metrics.addGauges("festa_lock_holders", "Requests that hold a lock, or run without by strategy.",
                    [samples] { return samples(&lock::LockBoard::Counts::holding); });
  metrics.addGauges("festa_lock_waiting", "Requests that ask or wait for a lock.",
                    [samples] { return samples(&lock::LockBoard::Counts::waiting); });
}

// One client per node and loop.
std::shared_ptr<lock::RedlockLockStorage> makeRedlock(const Config& config,
                                                      const lock::EpochSource& epochs) {
  const auto& redlock = config.redlock;
  lock::RedlockSettings settings;
  settings.nodeTimeout = milliseconds(redlock.timeoutMs);
  settings.longestLease = milliseconds(redlock.maxLeaseMs);
  settings.spin.maxWaiters = static_cast<std::size_t>(config.lock.maxWaiters);
  std::vector<std::shared_ptr<lock::RedlockNode>> nodes;
  for (const auto& node : redlock.nodes) {
    const auto name = "redlock" + std::to_string(nodes.size());
    drogon::app().createRedisClient(node.host, static_cast<std::uint16_t>(node.port), name,
                                    redlock.password, static_cast<std::size_t>(redlock.connections),
                                    true, static_cast<double>(redlock.timeoutMs) / 1000,
                                    static_cast<unsigned>(redlock.database), redlock.user);
    auto commands = std::make_shared<lock::RedisCommands>(
        [clients = lock::fastRedisClients(name)] { return clients->here(); });
    nodes.push_back(std::make_shared<lock::RedlockNode>(
        commands, lock::RedlockKeys(redlock.prefix, "redlock"), epochs, settings.longestLease));
  }
  return std::make_shared<lock::RedlockLockStorage>(nodes, settings);
}

using Sweep = std::function<drogon::Task<std::size_t>()>;

drogon::AsyncTask sweepOnce(std::string what, Sweep sweep) {
  try {
    const auto swept = co_await sweep();
    if (swept > 0)
      LogLine("swept").with("what", what).with("rows", static_cast<std::int64_t>(swept));
  } catch (const std::exception& error) {
    LogLine("swept", "warn").with("what", what).with("text", error.what());
  }
}

// On an IO loop: database clients belong to those.
void sweepRegularly(const std::string& what, std::int64_t everySeconds, const Sweep& sweep) {
  drogon::app().registerBeginningAdvice([what, everySeconds, sweep] {
    auto* const loop = drogon::app().getIOLoop(0);
    loop->runEvery(static_cast<double>(everySeconds), [what, sweep] { sweepOnce(what, sweep); });
  });
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

// Runs on its own thread until a signal arrives.
void stopOnSignal(sigset_t signals, const Config& config, const std::shared_ptr<Drain>& drain,
                  const std::function<void()>& endWaiting) {
  int signal = 0;
  sigwait(&signals, &signal);
  LogLine("stopping")
      .with("signal", static_cast<std::int64_t>(signal))
      .with("in_flight", drain->inFlight());
  drain->enter(Drain::Stage::kUnready);
  std::this_thread::sleep_for(milliseconds(config.http.drainDelayMs));
  drain->enter(Drain::Stage::kRefusing);
  endWaiting();
  const bool quiet = drain->awaitQuiet(milliseconds(config.http.drainLimitMs));
  // Refused requests come and go while it stops; those count only if it did not become quiet.
  LogLine("stopped", quiet ? "info" : "warn").with("unanswered", quiet ? 0 : drain->inFlight());
}

}  // namespace

void serve(const Config& config) {
  checkLocks(config);
  if (config.demo)
    LogLine("demo", "warn").with("text", "demo mode: known passwords and a known token secret");
  if (config.lab)
    LogLine("lab", "warn").with("text", "lab mode: requests may switch protection off");
  if (!config.redis.host.empty()) checkRedis(config.redis);
  if (!config.redlock.nodes.empty()) checkRedlock(config.redlock);
  const std::chrono::minutes tokenLifetime(config.auth.tokenMinutes);
  PasswordVersions passwords(tokenLifetime);
  const auto epoch = prepareDatabase(config, passwords);
  // Up to here a signal simply ends the process.
  const auto signals = blockStopSignals();

  configureHttp(config);
  addMetricsListener(config);
  const auto drain = std::make_shared<Drain>();
  const auto metrics = std::make_shared<Metrics>();
  limitConnections(config, *metrics);
  const auto database = configureDatabase(config);
  const auto memory =
      lock::MemoryLockStorage::create(epoch, drogon::app().getLoop(),
                                      {static_cast<std::size_t>(config.lock.maxWaitersPerKey),
                                       static_cast<std::size_t>(config.lock.maxWaiters)});
  Storages storages{{"memory", memory}};
  Redis redis;
  if (!config.redis.host.empty()) {
    redis = configureRedis(config.redis);
    addRedisStorages(config, redis, epochsOf(database), *metrics, storages);
  }
  std::shared_ptr<lock::RedlockLockStorage> redlock;
  if (!config.redlock.nodes.empty())
    storages["redlock"] = redlock = makeRedlock(config, epochsOf(database));
  const auto queues = std::make_shared<const Queues>(config, database, *metrics);
  const auto strategies = std::make_shared<const Strategies>(storages, queues->names());
  const auto board =
      std::make_shared<lock::LockBoard>(static_cast<std::size_t>(config.inFlightLimit()));
  metrics->addGauge("festa_http_in_flight", "Requests read and not yet answered.",
                    [drain] { return static_cast<double>(drain->inFlight()); });
  addBoardGauges(*metrics, board);
  const auto lag = std::make_shared<LoopLag>();
  metrics->addGauge("festa_loop_lag_seconds",
                    "The longest that an event loop was late since this was last read.",
                    [lag] { return lag->takeWorst(); });

  lock::LockMiddlewareContext lockContext;
  lockContext.variable = [](const HttpRequestPtr& request, std::string_view name) {
    return contextOf(request).variable(name);
  };
  lockContext.plan = makePlanner(strategies, config.lab);
  lockContext.refuse = lockRefusal;
  lockContext.observer = metrics;
  lockContext.board = board;

  const auto tokens = std::make_shared<TokenService>(config.auth.jwtSecret, tokenLifetime);
  const auto hasher =
      std::make_shared<PasswordHasher>(static_cast<std::size_t>(config.auth.hashThreads),
                                       static_cast<std::size_t>(config.auth.hashQueue));
  const auto idempotency = std::make_shared<IdempotencyService>(
      database, IdempotencySettings{milliseconds(config.idempotency.claimMs),
                                    std::chrono::hours(config.idempotency.keepHours)});
  Endpoints endpoints(
      tokens, passwords, idempotency, configureAdmission(config), lockContext,
      [&config](lock::Lockable lockable) { return configuredLock(config, std::move(lockable)); },
      problem);
  const auto watchClient = [clients = lock::fastDbClients(kWatchClient)] {
    return clients->here();
  };
  const auto passwordWatch = std::make_shared<PasswordWatch>(
      watchClient, passwords, milliseconds(config.auth.passwordPollMs));
  MetricsPage metricsPage([metrics] { return metrics->render(); });
  const Operations operations(
      watchClient, redis.commands, redlock, [queues] { return queues->brokerIsThere(); },
      metricsPage, drain);
  const LockAdmin lockAdmin(board, redis.commands, config.redis.prefix);
  const CouncilController councils(
      std::make_shared<CouncilService>(database, hasher, tokens, passwords));
  const FestivalController festivals(std::make_shared<FestivalService>(database));
  LabPauses labPauses;
  const auto guards = makeGuardFactory(
      config.lab ? &labPauses : nullptr, milliseconds(config.database.poolTimeoutMs * 9 / 10),
      [metrics](const HttpRequestPtr& request, const lock::LockHold& hold) {
        return metrics->observeWrites(request, hold);
      });
  RenderedListCache lists({.maxBytes = kRenderedListBytes});
  metrics->addGauge("festa_rendered_list_bytes", "Rendered lists that are kept for their readers.",
                    [&lists] { return static_cast<double>(lists.bytes()); });
  const AnnouncementController announcements(std::make_shared<AnnouncementService>(database),
                                             guards, lists);
  const UserController users(std::make_shared<UserService>(database, hasher, tokens));
  const auto performanceService = std::make_shared<PerformanceService>(database);
  const PerformanceController performances(performanceService, lists);
  const auto sold = std::make_shared<SoldSeats>(kSoldSeatsKnown);
  const ReservationController reservations(
      {std::make_shared<ReservationService>(database, sold),
       std::make_shared<PerformanceCards>(
           [performanceService](std::int64_t id) { return performanceService->find(id); },
           kPerformanceCards),
       sold},
      guards,
      [lab = config.lab](const HttpRequestPtr& request) { return wantsBackstop(request, lab); });
  const auto claims = std::make_shared<ClaimReader>(database);
  const auto streams = std::make_shared<ClaimStreams>(
      claims,
      std::make_shared<StreamPlaces>(static_cast<std::size_t>(config.queue.maxStreams),
                                     static_cast<std::size_t>(config.queue.maxStreamsPerUser)));
  const CouponController coupons(
      {std::make_shared<CouponService>(database), claims, streams,
       [queues](const HttpRequestPtr& request) {
         return queues->find(lock::holdOf(request)->plan().strategy.name);
       }},
      guards);
  const DocsController docs;
  operations.publish(endpoints);
  lockAdmin.publish(endpoints);
  councils.publish(endpoints);
  festivals.publish(endpoints);
  announcements.publish(endpoints);
  users.publish(endpoints);
  performances.publish(endpoints);
  reservations.publish(endpoints);
  coupons.publish(endpoints);
  docs.publish(endpoints);
  endpoints.verify();
  DocsController::verify(*endpoints.routes());
  requireFreePrefix(config.http.apiPrefix, *endpoints.routes());

  Edge edge(
      {static_cast<std::size_t>(config.http.maxBodyBytes), config.http.corsOrigins,
       config.http.maxRequests, config.http.apiPrefix, config.metrics.port},
      endpoints.routes(),
      [&endpoints](const HttpRequestPtr& request) { endpoints.checkHeaders(request); }, metrics,
      drain);
  edge.install();
  sweepRegularly("idempotency keys", config.idempotency.sweepSeconds,
                 [idempotency] { return idempotency->sweep(); });
  const auto expiry = std::make_shared<const ClaimExpiry>(
      database, std::chrono::seconds(config.queue.claimTimeoutSeconds));
  sweepRegularly("expired claims", config.queue.sweepSeconds, [expiry] { return expiry->run(); });
  std::thread stopper;
  // Not before the loop runs: quitting a loop that does not run yet has no effect.
  drogon::app().registerBeginningAdvice([&] {
    queues->start();
    streams->start(drogon::app().getIOLoop(0));
    passwordWatch->start(drogon::app().getIOLoop(0));
    for (std::size_t i = 0; i < drogon::app().getThreadNum(); ++i)
      lag->watch(drogon::app().getIOLoop(i));
    stopper = std::thread([&] {
      stopOnSignal(signals, config, drain, [&] {
        strategies->close();
        streams->close();
        labPauses.end();
      });
      queues->stop();
      passwordWatch->stop();
      metricsPage.stop();
      hasher->stop();
      drogon::app().quit();
    });
    LogLine("ready")
        .with("address", config.http.address)
        .with("port", config.http.port)
        .with("metrics_port", config.metrics.port > 0 ? config.metrics.port : config.http.port)
        .with("threads", config.ioThreads());
  });
  drogon::app().run();
  stopper.join();
}

}  // namespace festa
