#include "app/strategies/strategies.h"

#include <stdexcept>

namespace festa {

namespace {

Needs needsOf(lock::Servers servers) {
  switch (servers) {
    case lock::Servers::kNone: return Needs::kNothing;
    case lock::Servers::kRedis: return Needs::kRedis;
    case lock::Servers::kRedlock: return Needs::kRedlock;
  }
  throw std::logic_error("servers without a setting");
}

StrategyRow lockOn(const lock::StorageRow& storage) {
  return {.name = storage.name,
          .what = storage.what,
          .use = storage.use,
          .storage = &storage,
          .acrossProcesses = storage.acrossProcesses,
          .order = storage.order,
          .needs = needsOf(storage.needs)};
}

StrategyRow insideDatabase(std::string name, Guard guard, std::string what, std::string use) {
  return {.name = std::move(name),
          .what = std::move(what),
          .use = std::move(use),
          .inside = guard,
          .acrossProcesses = true};
}

std::vector<StrategyRow> guards() {
  return {
      insideDatabase("pg-constraint", Guard::kConstraint,
                     "unique slots and conditional statements, no lock",
                     "the rule fits a constraint"),
      insideDatabase("pg-row", Guard::kRowLock, "`SELECT … FOR NO KEY UPDATE` on the parent row",
                     "no Redis, short transactions"),
      insideDatabase("pg-version", Guard::kVersion,
                     "optimistic: the parent's version is compared at the end",
                     "conflicts are rare"),
      insideDatabase("pg-serializable", Guard::kSerializable,
                     "SERIALIZABLE, repeated after a conflict", "rules over many rows"),
      insideDatabase("pg-advisory", Guard::kAdvisory, "`pg_advisory_xact_lock` on the key",
                     "no Redis, no natural parent row"),
      {.name = "pg-repeatable-read",
       .what = "REPEATABLE READ; a control that oversells",
       .use = "never",
       .inside = Guard::kRepeatableRead,
       .labOnly = true,
       .refusesStaleUpdates = true},
  };
}

std::vector<StrategyRow> queues() {
  return {
      {.name = "queue-local",
       .what = "claims in the order of arrival, work in parallel; survives a restart",
       .use = "coupons, the answer may come later, one instance",
       .order = lock::Order::kInProcess,
       .queues = true},
      {.name = "queue-rabbitmq",
       .what = "the same, one sequence across processes",
       .use = "coupons, the answer may come later, several instances",
       .acrossProcesses = true,
       .order = lock::Order::kOverall,
       .needs = Needs::kRabbitMq,
       .queues = true},
  };
}

std::vector<StrategyRow> makeTable() {
  std::vector<StrategyRow> table{{.name = "none",
                                  .what = "no protection; a control that oversells",
                                  .use = "never",
                                  .labOnly = true}};
  for (const auto& storage : lock::storageTable()) table.push_back(lockOn(storage));
  for (auto& row : guards()) table.push_back(std::move(row));
  for (auto& row : queues()) table.push_back(std::move(row));
  return table;
}

}  // namespace

const char* nameOf(Needs needs) {
  switch (needs) {
    case Needs::kNothing: break;
    case Needs::kRedis: return "redis";
    case Needs::kRedlock: return "redlock";
    case Needs::kRabbitMq: return "rabbitmq";
  }
  return "";
}

const std::vector<StrategyRow>& strategyTable() {
  static const auto table = makeTable();
  return table;
}

const StrategyRow* findStrategy(const std::string& name) {
  for (const auto& row : strategyTable())
    if (name == row.name) return &row;
  return nullptr;
}

const StrategyRow& recommendedStrategy(bool acrossProcesses) {
  for (const auto& row : strategyTable())
    if (row.isRecommended() && row.acrossProcesses == acrossProcesses) return row;
  throw std::logic_error("no storage is recommended");
}

bool Strategies::isAvailable(const StrategyRow& row) const {
  return (!row.takesLock() || storages_.contains(row.name)) &&
         (!row.queues || queues_.contains(row.name));
}

lock::Strategy Strategies::lockOf(const StrategyRow& row) const {
  return {row.name, row.takesLock() ? storages_.at(row.name) : nullptr};
}

ClaimQueue* Strategies::queueOf(const StrategyRow& row) const {
  return row.queues ? queues_.at(row.name) : nullptr;
}

void Strategies::close() const {
  for (const auto& [name, storage] : storages_) storage->close();
}

}  // namespace festa
