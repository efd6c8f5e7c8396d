#include "app/strategies.h"

namespace festa {

const std::vector<StrategyRow>& strategyTable() {
  static const std::vector<StrategyRow> table{
      {"none", false, Guard::kNone, true, false},
      {"memory", true, Guard::kNone, false, false},
      {"redis-spin", true, Guard::kNone, false, true, Needs::kRedis},
      {"redis-pubsub", true, Guard::kNone, false, true, Needs::kRedis},
      {"redis-fair", true, Guard::kNone, false, true, Needs::kRedis, false, true},
      {"redlock", true, Guard::kNone, false, true, Needs::kRedlock},
      {"pg-constraint", false, Guard::kConstraint, false, true},
      {"pg-row", false, Guard::kRowLock, false, true},
      {"pg-version", false, Guard::kVersion, false, true},
      {"pg-serializable", false, Guard::kSerializable, false, true},
      {"pg-advisory", false, Guard::kAdvisory, false, true},
      {"pg-repeatable-read", false, Guard::kRepeatableRead, true, false},
      {"queue-local", false, Guard::kNone, false, false, Needs::kNothing, true},
      {"queue-rabbitmq", false, Guard::kNone, false, true, Needs::kRabbitMq, true},
  };
  return table;
}

const StrategyRow* findStrategy(const std::string& name) {
  for (const auto& row : strategyTable())
    if (name == row.name) return &row;
  return nullptr;
}

bool Strategies::isAvailable(const StrategyRow& row) const {
  return (!row.takesLock || storages_.contains(row.name)) &&
         (!row.queues || queues_.contains(row.name));
}

lock::Strategy Strategies::lockOf(const StrategyRow& row) const {
  return {row.name, row.takesLock ? storages_.at(row.name) : nullptr};
}

ClaimQueue* Strategies::queueOf(const StrategyRow& row) const {
  return row.queues ? queues_.at(row.name) : nullptr;
}

void Strategies::close() const {
  for (const auto& [name, storage] : storages_) storage->close();
}

}  // namespace festa
