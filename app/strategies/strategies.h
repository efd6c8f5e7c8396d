// The one table of ways to protect a write.
#pragma once

#include "lock/lock_hold.h"
#include "lock/storages.h"
#include "services/write/write_context.h"

#include <map>
#include <string>
#include <vector>

namespace festa {

class ClaimQueue;

// What must be configured before a strategy can be chosen.
enum class Needs { kNothing, kRedis, kRedlock, kRabbitMq };
// Its section of the configuration; "" for nothing.
const char* nameOf(Needs needs);

struct StrategyRow {
  std::string name;
  std::string what;                           // in a few words
  std::string use;                            // when it is the one to choose
  const lock::StorageRow* storage = nullptr;  // where it takes a lock; nullptr: it takes none
  Guard inside = Guard::kNone;                // what happens inside the transaction
  bool labOnly = false;                       // known not to protect
  bool refusesStaleUpdates = false;  // known not to protect, except a row that is read and updated
  bool acrossProcesses = false;
  lock::Order order = lock::Order::kNone;
  Needs needs = Needs::kNothing;
  bool queues = false;  // the answer comes later; for coupons only

  bool takesLock() const { return storage != nullptr; }
  bool isRecommended() const { return storage != nullptr && storage->recommended; }
  bool appliesTo(const std::string& lockable) const { return !queues || lockable == "coupons"; }
};

// Every LockStorage of storageTable() is a row, between those that take no lock.
const std::vector<StrategyRow>& strategyTable();
// nullptr: there is no such strategy.
const StrategyRow* findStrategy(const std::string& name);
// The one to begin with, in one process or in several.
const StrategyRow& recommendedStrategy(bool acrossProcesses);

// What this process has of the table. Filled at start, then read-only and thread-safe.
class Strategies {
 public:
  // Both outlive the strategies.
  void add(const std::string& name, lock::LockStorage& storage) { storages_[name] = &storage; }
  void add(const std::string& name, ClaimQueue& queue) { queues_[name] = &queue; }

  // Its storage or queue is there, or it needs none.
  bool isAvailable(const StrategyRow& row) const;
  // The row is available.
  lock::Strategy lockOf(const StrategyRow& row) const;
  ClaimQueue* queueOf(const StrategyRow& row) const;  // nullptr: it is no queue

  // Ends all waiting in all storages.
  void close() const;

 private:
  std::map<std::string, lock::LockStorage*> storages_;
  std::map<std::string, ClaimQueue*> queues_;
};

}  // namespace festa
