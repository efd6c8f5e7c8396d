// The one table of ways to protect a write.
#pragma once

#include "lock/lock_hold.h"
#include "services/write_guard.h"

#include <map>
#include <string>
#include <vector>

namespace festa {

class ClaimQueue;

// What must be configured before a strategy can be chosen.
enum class Needs { kNothing, kRedis, kRedlock, kRabbitMq };

struct StrategyRow {
  const char* name;
  bool takesLock;  // a LockStorage of that name
  Guard inside;    // what happens inside the transaction
  bool labOnly;    // known not to protect
  bool acrossProcesses;
  Needs needs = Needs::kNothing;
  bool queues = false;     // the answer comes later; for coupons only
  bool followers = false;  // holders follow each other under one hold, see line_protocol.h

  bool appliesTo(const std::string& lockable) const { return !queues || lockable == "coupons"; }
};

const std::vector<StrategyRow>& strategyTable();
// nullptr: there is no such strategy.
const StrategyRow* findStrategy(const std::string& name);

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
