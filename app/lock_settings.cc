#include "app/lock_settings.h"

#include "app/strategies.h"
#include "controllers/announcement_controller.h"
#include "controllers/coupon_controller.h"
#include "controllers/reservation_controller.h"
#include "lock/redis/line_protocol.h"

namespace festa {

using std::chrono::milliseconds;

namespace {

// What a holder has of its lease, at least, when its handler begins.
milliseconds leastHolderTime(const Config& config, const StrategyRow& row, milliseconds lease) {
  // The lab may choose redis-fair for any lock.
  const bool mayFollow = row.followers || (config.lab && !config.redis.host.empty());
  return mayFollow ? lock::leastFollowerTime(lease) : lease - lock::driftMargin(lease);
}

lock::Lockable overridden(const Config& config, lock::Lockable lockable) {
  if (lockable.strategy.empty()) lockable.strategy = config.lock.strategy;
  const auto& settings = config.lock.lockables.at(lockable.name);
  if (!settings.strategy.empty()) lockable.strategy = settings.strategy;
  lockable.wait = settings.wait.value_or(lockable.wait);
  lockable.lease = settings.lease.value_or(lockable.lease);
  lockable.maxHold = settings.maxHold.value_or(lockable.maxHold);
  lockable.failFast = settings.failFast.value_or(lockable.failFast);
  return lockable;
}

// The key that chose the lock's strategy.
std::string strategyKey(const Config& config, const lock::Lockable& lockable) {
  const bool isOwn = !config.lock.lockables.at(lockable.name).strategy.empty();
  return isOwn ? "lock.lockables." + lockable.name + ".strategy" : "lock.strategy";
}

// What is missing for the strategy; "" when nothing is.
std::string missingServer(const Config& config, Needs needs) {
  if (needs == Needs::kRedis && config.redis.host.empty()) return "needs a server: set redis.host";
  if (needs == Needs::kRedlock && config.redlock.nodes.empty())
    return "needs its servers: set redlock.nodes";
  if (needs == Needs::kRabbitMq && config.rabbitmq.host.empty())
    return "needs a broker: set rabbitmq.host";
  return "";
}

// Why the strategy cannot protect this lock here; "" when it can.
std::string unfitness(const Config& config, const StrategyRow& row,
                      const lock::Lockable& lockable) {
  auto missing = missingServer(config, row.needs);
  if (!missing.empty()) return missing;
  if (!row.appliesTo(lockable.name)) return "is for coupons, not for " + lockable.name;
  if (row.labOnly && !config.lab) return "protects nothing and is for the lab only";
  if (!row.acrossProcesses && config.lock.instances > 1 && !config.lab)
    return "works inside one process, but lock.instances is " +
           std::to_string(config.lock.instances);
  return "";
}

const StrategyRow& fittingStrategy(const Config& config, const lock::Lockable& lockable) {
  const auto* row = findStrategy(lockable.strategy);
  if (row == nullptr)
    throw ConfigError(strategyKey(config, lockable),
                      "names an unknown strategy: " + lockable.strategy);
  const auto why = unfitness(config, *row, lockable);
  if (!why.empty())
    throw ConfigError("configuration: '" + strategyKey(config, lockable) +
                      "': " + lockable.strategy + " " + why);
  return *row;
}

std::string countText(milliseconds time) {
  return std::to_string(time.count());
}

void checkLeaseOutlastsWrites(const Config& config, const StrategyRow& row,
                              const lock::Lockable& lockable) {
  if (!row.takesLock) return;
  const auto& database = config.database;
  const auto longest = database.poolTimeout + kLongestPathStatements * database.statementTimeout +
                       database.commitTimeout;
  // Of the lease, even if it may be renewed: a renewal may fail.
  const auto has = leastHolderTime(config, row, lockable.lease);
  if (longest < has) return;
  throw ConfigError("configuration: 'lock.lockables." + lockable.name + ".lease_ms' (" +
                    countText(lockable.lease) + ", of which a holder has " + countText(has) +
                    " at least) must be longer than the time-outs of the longest path (" +
                    countText(longest) + ": database.pool_timeout_ms + " +
                    std::to_string(kLongestPathStatements) +
                    " × database.statement_timeout_ms + database.commit_timeout_ms)");
}

void checkLongestHold(const lock::Lockable& lockable) {
  if (lockable.maxHold == milliseconds(0) || lockable.maxHold >= lockable.lease) return;
  throw ConfigError("configuration: 'lock.lockables." + lockable.name + ".max_hold_ms' (" +
                    countText(lockable.maxHold) +
                    ") must be 0 (leases are not renewed) or at least the lease (" +
                    countText(lockable.lease) + ")");
}

// Whatever the strategy: the lab may choose Redlock for any of them.
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
  return {&kAnnouncementPins, &kSeats, &kCoupons};
}

void checkLocks(const Config& config) {
  for (const auto* lockable : declaredLocks()) configuredLock(config, *lockable);
}

}  // namespace festa
