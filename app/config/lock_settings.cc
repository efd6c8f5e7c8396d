#include "app/config/lock_settings.h"

#include "controllers/announcements/announcement_controller.h"
#include "controllers/coupons/coupon_controller.h"
#include "controllers/festivals/question_controller.h"
#include "controllers/festivals/schedule_controller.h"
#include "controllers/seats/reservation_controller.h"
#include "lock/redis/line/line_protocol.h"
#include "services/write/guarded_write.h"

#include <algorithm>

namespace festa {

using std::chrono::milliseconds;

namespace {

bool isConfigured(const Config& config, Needs needs) {
  switch (needs) {
    case Needs::kNothing: return true;
    case Needs::kRedis: return !config.redis.host.empty();
    case Needs::kRedlock: return !config.redlock.nodes.empty();
    case Needs::kRabbitMq: return !config.rabbitmq.host.empty();
  }
  return false;
}

bool mayFollow(const StrategyRow& row) {
  return row.takesLock() && row.storage->followers;
}

// What a holder has of its lease, at least, when its handler begins.
milliseconds leastHolderTime(const Config& config, const StrategyRow& chosen, milliseconds lease) {
  const auto& table = strategyTable();
  // The lab may choose any strategy for any lock.
  const bool follows =
      mayFollow(chosen) || (config.lab && std::ranges::any_of(table, [&](const StrategyRow& row) {
                              return mayFollow(row) && isConfigured(config, row.needs);
                            }));
  return follows ? lock::leastFollowerTime(lease) : lease - lock::driftMargin(lease);
}

lock::Lockable overridden(const Config& config, lock::Lockable lockable) {
  if (lockable.strategy.empty()) lockable.strategy = config.lock.strategy;
  const auto& settings = config.lock.lockables.at(lockable.name);
  if (!settings.strategy.empty()) lockable.strategy = settings.strategy;
  lockable.wait = settings.wait.value_or(lockable.wait);
  lockable.lease = settings.lease.value_or(lockable.lease);
  lockable.maxHold = settings.maxHold.value_or(lockable.maxHold);
  lockable.failFast = settings.failFast.value_or(lockable.failFast);
  lockable.together = std::min(lockable.together, settings.together);
  return lockable;
}

// The key that chose the lock's strategy.
std::string strategyKey(const Config& config, const lock::Lockable& lockable) {
  const bool isOwn = !config.lock.lockables.at(lockable.name).strategy.empty();
  return isOwn ? "lock.lockables." + lockable.name + ".strategy" : "lock.strategy";
}

// What to set for strategies with these needs.
std::string missing(Needs needs) {
  switch (needs) {
    case Needs::kNothing: break;
    case Needs::kRedis: return "needs a server: set redis.host";
    case Needs::kRedlock: return "needs its servers: set redlock.nodes";
    case Needs::kRabbitMq: return "needs a broker: set rabbitmq.host";
  }
  return "";
}

// Why the strategy cannot protect this lock here; "" when it can.
std::string unfitness(const Config& config, const StrategyRow& row,
                      const lock::Lockable& lockable) {
  if (!isConfigured(config, row.needs)) return missing(row.needs);
  if (!row.appliesTo(lockable.name)) return "is for coupons, not for " + lockable.name;
  if (row.labOnly && !config.lab) return "protects nothing and is for the lab only";
  if (!row.acrossProcesses && config.lock.instances > 1 && !config.lab)
    return "works inside one process, but lock.instances is " +
           std::to_string(config.lock.instances);
  return "";
}

const StrategyRow& knownStrategy(const Config& config, const lock::Lockable& lockable) {
  const auto* row = findStrategy(lockable.strategy);
  if (row == nullptr)
    throw ConfigError(strategyKey(config, lockable),
                      "names an unknown strategy: " + lockable.strategy);
  return *row;
}

const StrategyRow& fittingStrategy(const Config& config, const lock::Lockable& lockable) {
  const auto& row = knownStrategy(config, lockable);
  const auto why = unfitness(config, row, lockable);
  if (!why.empty())
    throw ConfigError("configuration: '" + strategyKey(config, lockable) +
                      "': " + lockable.strategy + " " + why);
  return row;
}

std::string countText(milliseconds time) {
  return std::to_string(time.count());
}

void checkLeaseOutlastsWrites(const Config& config, const StrategyRow& row,
                              const lock::Lockable& lockable) {
  if (!row.takesLock()) return;
  const auto& database = config.database;
  const auto longest =
      longestAttempt(database.poolTimeout, database.statementTimeout, database.commitTimeout);
  // Of the lease, even if it may be renewed: a renewal may fail.
  const auto has = leastHolderTime(config, row, lockable.lease);
  if (longest < has) return;
  throw ConfigError("configuration: 'lock.lockables." + lockable.name + ".lease_ms' (" +
                    countText(lockable.lease) + ", of which a holder has " + countText(has) +
                    " at least) must be longer than the time-outs of the longest attempt (" +
                    countText(longest) + ": database.pool_timeout_ms + " +
                    std::to_string(kLongestAttemptStatements) +
                    " × database.statement_timeout_ms + database.commit_timeout_ms)");
}

void checkLongestHold(const lock::Lockable& lockable) {
  if (lockable.maxHold == milliseconds(0) || lockable.maxHold >= lockable.lease) return;
  throw ConfigError("configuration: 'lock.lockables." + lockable.name + ".max_hold_ms' (" +
                    countText(lockable.maxHold) +
                    ") must be 0 (leases are not renewed) or at least the lease (" +
                    countText(lockable.lease) + ")");
}

// For every strategy: the lab may choose Redlock for any lock.
void checkRedlockLease(const Config::Redlock& redlock, const lock::Lockable& lockable) {
  if (redlock.nodes.empty() || lockable.lease <= redlock.maxLease) return;
  throw ConfigError("configuration: 'redlock.max_lease_ms' (" + countText(redlock.maxLease) +
                    ") must not be shorter than lock.lockables." + lockable.name + ".lease_ms (" +
                    countText(lockable.lease) + ")");
}

}  // namespace

lock::Lockable configuredLock(const Config& config, lock::Lockable lockable) {
  lockable = overridden(config, std::move(lockable));
  checkLeaseOutlastsWrites(config, fittingStrategy(config, lockable), lockable);
  checkLongestHold(lockable);
  checkRedlockLease(config.redlock, lockable);
  return lockable;
}

std::array<const lock::Lockable*, kLockableNames.size()> declaredLocks() {
  return {&kAnnouncementPins, &kQuestions, &kEventDates, &kSeats, &kCoupons};
}

std::set<Needs> neededServers(const Config& config) {
  std::set<Needs> needs;
  for (const auto* lockable : declaredLocks())
    needs.insert(knownStrategy(config, overridden(config, *lockable)).needs);
  if (config.lab)
    for (const auto& row : strategyTable()) needs.insert(row.needs);
  needs.erase(Needs::kNothing);
  return needs;
}

void checkLocks(const Config& config) {
  for (const auto* lockable : declaredLocks()) configuredLock(config, *lockable);
}

}  // namespace festa
