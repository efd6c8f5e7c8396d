// The one table of ways to protect a write.
#pragma once

#include "app/lab_pauses.h"
#include "controllers/guard_factory.h"
#include "lock/lock_hold.h"
#include "lock/lockable.h"
#include "services/write_guard.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace festa {

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

// The table with its storages. Immutable after construction, thread-safe.
class Strategies {
 public:
  Strategies(std::map<std::string, std::shared_ptr<lock::LockStorage>> storages,
             std::set<std::string> queues)
      : storages_(std::move(storages)), queues_(std::move(queues)) {}

  // nullptr: there is no such strategy.
  static const StrategyRow* find(const std::string& name);
  // Its storage or queue is there, or it needs none.
  bool isAvailable(const StrategyRow& row) const {
    return (!row.takesLock || storages_.contains(row.name)) &&
           (!row.queues || queues_.contains(row.name));
  }
  lock::Strategy strategy(const StrategyRow& row) const;

  // Ends all waiting in all storages.
  void close() const;

 private:
  const std::map<std::string, std::shared_ptr<lock::LockStorage>> storages_;
  const std::set<std::string> queues_;  // names
};

// How a request is protected: as configured, or in the lab as its X-Concurrency and X-Backstop
// headers say.
using Planner = std::function<lock::Plan(const drogon::HttpRequestPtr&, const lock::Lockable&)>;
Planner makePlanner(std::shared_ptr<const Strategies> strategies, bool lab);

// Whether constraints and fences stand behind the request's strategy: always, but in the lab.
bool wantsBackstop(const drogon::HttpRequestPtr& request, bool lab);

// Whom the writes of a request under this hold tell what happens to them; may be empty.
using WriteObservers = std::function<std::shared_ptr<WriteObserver>(const drogon::HttpRequestPtr&,
                                                                    const lock::LockHold&)>;

inline constexpr std::chrono::milliseconds kLongestLabPause{60'000};

// What the services get of the request's hold. In the lab, X-Lab-Fault adds a fault before COMMIT:
// `release-before-commit`, `throw-before-commit`, `throw-number-before-commit` (not a
// std::exception) or `pause-before-commit=<ms>`, up to kLongestLabPause. `lab` is null outside the
// lab; it must outlive the factory's guards.
// `longestLockWait` bounds waits inside the database; it must be below the client's own patience.
GuardFactory makeGuardFactory(LabPauses* lab, std::chrono::milliseconds longestLockWait,
                              WriteObservers observers = {});

}  // namespace festa
