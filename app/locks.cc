#include "app/locks.h"

#include "lock/redis/redis_fair_lock_storage.h"
#include "lock/redis/redis_pubsub_lock_storage.h"
#include "lock/redis/redis_spin_lock_storage.h"

#include <drogon/HttpAppFramework.h>

namespace festa {

namespace {

lock::LockTableLimits limitsOf(const Config& config) {
  return {config.lock.maxWaitersPerKey, config.lock.maxWaiters};
}

void addBoardGauges(Metrics& metrics, const lock::LockBoard& board) {
  const auto samples = [&board](std::size_t lock::LockBoard::Counts::*which) {
    std::vector<Metrics::Sample> all;
    for (const auto& [kind, counts] : board.counts())
      all.push_back({{{"lockable", kind.first}, {"strategy", kind.second}},
                     static_cast<double>(counts.*which)});
    return all;
  };
  metrics.addGauges("festa_lock_holders", "Requests that hold a lock, or run without by strategy.",
                    [samples] { return samples(&lock::LockBoard::Counts::holding); });
  metrics.addGauges("festa_lock_waiting", "Requests that ask or wait for a lock.",
                    [samples] { return samples(&lock::LockBoard::Counts::waiting); });
}

// One client per loop: the main loop's is for timers and messages.
std::shared_ptr<const lock::LoopRedisClients> addRedisClients(const Config::Redis& config) {
  drogon::app().createRedisClient(config.host, config.port, "default", config.password,
                                  config.connections, true, inSeconds(config.timeout),
                                  config.database, config.user);
  return lock::fastRedisClients();
}

// One client per node and loop.
std::shared_ptr<const lock::LoopRedisClients> addNodeClients(const Config::Redlock& config,
                                                             const Config::Redlock::Node& node,
                                                             const std::string& name) {
  drogon::app().createRedisClient(node.host, node.port, name, config.password, config.connections,
                                  true, inSeconds(config.timeout), config.database, config.user);
  return lock::fastRedisClients(name);
}

}  // namespace

Locks::Locks(const Config& config, const Database& database, std::int64_t epoch, Metrics& metrics)
    : epochs_(database),
      board_(config.inFlightLimit()),
      memory_(lock::MemoryLockStorage::create(epoch, drogon::app().getLoop(), limitsOf(config))),
      configured_(config, strategies_, metrics) {
  strategies_.add("memory", *memory_);
  if (!config.redis.host.empty()) addRedis(config, metrics);
  if (!config.redlock.nodes.empty()) addRedlock(config);
  if (config.lab) lab_.emplace(configured_, strategies_, pauses_);
  addBoardGauges(metrics, board_);
}

drogon::Task<std::int64_t> Locks::Epochs::draw() {
  const auto client = database_.client();
  const auto rows = co_await client->execSqlCoro("SELECT nextval('lock_epoch')");
  co_return rows[0][0].as<std::int64_t>();
}

void Locks::addRedis(const Config& config, Metrics& metrics) {
  const auto& clients = *redisClients_.emplace_back(addRedisClients(config.redis));
  redis_ = std::make_unique<lock::RedisCommands>(
      clients, config.redis.prefix + '/' + std::to_string(config.redis.database));
  const auto limits = limitsOf(config);
  lock::SpinSettings spin;
  spin.maxWaiters = limits.waitersInAll;
  auto& spinning = redisStorages_.emplace_back(std::make_unique<lock::RedisSpinLockStorage>(
      *redis_, lock::RedisKeys(config.redis.prefix, "spin"), epochs_, spin));
  strategies_.add("redis-spin", *spinning);
  const lock::LineSurroundings around{drogon::app().getLoop(), clients, limits};
  addLine<lock::RedisFairLockStorage>(config, "fair", around, metrics);
  addLine<lock::RedisPubSubLockStorage>(config, "pubsub", around, metrics);
}

template <class Storage>
void Locks::addLine(const Config& config, const std::string& name,
                    const lock::LineSurroundings& around, Metrics& metrics) {
  auto storage = std::make_unique<Storage>(*redis_, lock::RedisKeys(config.redis.prefix, name),
                                           epochs_, around);
  metrics.addCounterSource("festa_lock_offers_expired_total",
                           "Offers of a key that came too late for their receiver here.",
                           {{"strategy", "redis-" + name}},
                           [&line = *storage] { return static_cast<double>(line.offersMissed()); });
  strategies_.add("redis-" + name, *storage);
  redisStorages_.push_back(std::move(storage));
}

void Locks::addRedlock(const Config& config) {
  lock::RedlockSettings settings;
  settings.nodeTimeout = config.redlock.timeout;
  settings.longestLease = config.redlock.maxLease;
  settings.spin.maxWaiters = config.lock.maxWaiters;
  std::vector<const lock::RedisClientSource*> servers;
  for (const auto& node : config.redlock.nodes) {
    const auto name = "redlock" + std::to_string(servers.size());
    redisClients_.push_back(addNodeClients(config.redlock, node, name));
    servers.push_back(redisClients_.back().get());
  }
  redlock_ = std::make_unique<lock::RedlockLockStorage>(
      servers, lock::RedlockKeys(config.redlock.prefix, "redlock"), epochs_, settings);
  strategies_.add("redlock", *redlock_);
}

const Protections& Locks::protections() const {
  if (lab_) return *lab_;
  return configured_;
}

void Locks::close() {
  strategies_.close();
  pauses_.end();
}

}  // namespace festa
