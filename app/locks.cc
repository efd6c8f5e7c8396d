#include "app/locks.h"

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
      configured_(config, strategies_, metrics),
      recent_(metrics) {
  const auto around = surroundings(config, epoch);
  for (const auto& row : lock::storageTable())
    if (around.have(row.needs)) addStorage(row, around, metrics);
  addBoardGauges(metrics, board_);
}

drogon::Task<std::int64_t> Locks::Epochs::draw() {
  const auto client = database_.client();
  const auto rows = co_await client->execSqlCoro("SELECT nextval('lock_epoch')");
  co_return rows[0][0].as<std::int64_t>();
}

lock::StorageSurroundings Locks::surroundings(const Config& config, std::int64_t epoch) {
  lock::StorageSurroundings around{drogon::app().getLoop(), epoch, limitsOf(config)};
  if (!config.redis.host.empty()) around.redis.emplace(addRedis(config.redis));
  if (!config.redlock.nodes.empty()) around.redlock.emplace(addRedlock(config.redlock));
  return around;
}

lock::StorageSurroundings::OneRedis Locks::addRedis(const Config::Redis& config) {
  const auto& clients = *redisClients_.emplace_back(addRedisClients(config));
  redis_ = std::make_unique<lock::RedisCommands>(
      clients, config.prefix + '/' + std::to_string(config.database));
  return {*redis_, clients, epochs_, config.prefix};
}

lock::StorageSurroundings::RedlockNodes Locks::addRedlock(const Config::Redlock& config) {
  lock::StorageSurroundings::RedlockNodes nodes{
      {}, epochs_, config.prefix, config.timeout, config.maxLease};
  for (const auto& node : config.nodes) {
    const auto name = "redlock" + std::to_string(nodes.clients.size());
    redisClients_.push_back(addNodeClients(config, node, name));
    nodes.clients.push_back(redisClients_.back().get());
  }
  return nodes;
}

void Locks::addStorage(const lock::StorageRow& row, const lock::StorageSurroundings& around,
                       Metrics& metrics) {
  auto& storage = *storages_.emplace_back(row.makeIn(around));
  strategies_.add(row.name, storage);
  if (row.offersMissed == nullptr) return;
  metrics.addCounterSource(
      "festa_lock_offers_expired_total",
      "Offers of a key that came too late for their receiver here.", {{"strategy", row.name}},
      [&storage, count = row.offersMissed] { return static_cast<double>(count(storage)); });
}

drogon::Task<std::optional<bool>> Locks::redlockAnswers() const {
  for (const auto& row : strategyTable()) {
    if (row.needs != Needs::kRedlock || !strategies_.isAvailable(row)) continue;
    if (row.storage->answers == nullptr) continue;
    const bool answers = co_await row.storage->answers(*strategies_.lockOf(row).storage);
    co_return answers;
  }
  co_return std::nullopt;
}

}  // namespace festa
