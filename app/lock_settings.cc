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

}  // namespace

lock::Lockable configuredLock(const Config& config, lock::Lockable lockable) {
  if (lockable.strategy.empty()) lockable.strategy = config.lock.strategy;
  const auto& settings = config.lock.lockables.at(lockable.name);
  if (!settings.strategy.empty()) lockable.strategy = settings.strategy;
  if (settings.waitMs) lockable.wait = milliseconds(*settings.waitMs);
  if (settings.leaseMs) lockable.lease = milliseconds(*settings.leaseMs);
  if (settings.failFast) lockable.failFast = *settings.failFast;
  if (settings.maxHoldMs) lockable.maxHold = milliseconds(*settings.maxHoldMs);
  const std::string key =
      settings.strategy.empty() ? "lock.strategy" : "lock.lockables." + lockable.name + ".strategy";
  const auto* row = findStrategy(lockable.strategy);
  if (row == nullptr)
    throw ConfigError("configuration: '" + key +
                      "' names an unknown strategy: " + lockable.strategy);
  if (row->needs == Needs::kRedis && config.redis.host.empty())
    throw ConfigError("configuration: '" + key + "': " + lockable.strategy +
                      " needs a server: set redis.host");
  if (row->needs == Needs::kRedlock && config.redlock.nodes.empty())
    throw ConfigError("configuration: '" + key + "': " + lockable.strategy +
                      " needs its servers: set redlock.nodes");
  if (row->needs == Needs::kRabbitMq && config.rabbitmq.host.empty())
    throw ConfigError("configuration: '" + key + "': " + lockable.strategy +
                      " needs a broker: set rabbitmq.host");
  if (!row->appliesTo(lockable.name))
    throw ConfigError("configuration: '" + key + "': " + lockable.strategy +
                      " is for coupons, not for " + lockable.name);
  if (row->labOnly && !config.lab)
    throw ConfigError("configuration: '" + key + "': " + lockable.strategy +
                      " protects nothing and is for the lab only");
  if (!row->acrossProcesses && config.lock.instances > 1 && !config.lab)
    throw ConfigError("configuration: '" + key + "': " + lockable.strategy +
                      " works inside one process, but lock.instances is " +
                      std::to_string(config.lock.instances));
  const auto longest = milliseconds(config.database.poolTimeoutMs +
                                    kLongestPathStatements * config.database.statementTimeoutMs +
                                    config.database.commitTimeoutMs);
  // Of the lease, even if it may be renewed: a renewal may fail.
  const auto has = leastHolderTime(config, *row, lockable.lease);
  if (row->takesLock && longest >= has)
    throw ConfigError("configuration: 'lock.lockables." + lockable.name + ".lease_ms' (" +
                      std::to_string(lockable.lease.count()) + ", of which a holder has " +
                      std::to_string(has.count()) +
                      " at least) must be longer than the time-outs of the longest path (" +
                      std::to_string(longest.count()) + ": database.pool_timeout_ms + " +
                      std::to_string(kLongestPathStatements) +
                      " × database.statement_timeout_ms + database.commit_timeout_ms)");
  if (lockable.maxHold != milliseconds(0) && lockable.maxHold < lockable.lease)
    throw ConfigError("configuration: 'lock.lockables." + lockable.name + ".max_hold_ms' (" +
                      std::to_string(lockable.maxHold.count()) +
                      ") must be 0 (leases are not renewed) or at least the lease (" +
                      std::to_string(lockable.lease.count()) + ")");
  // Whatever the strategy: the lab may choose Redlock for any of them.
  if (!config.redlock.nodes.empty() && lockable.lease > milliseconds(config.redlock.maxLeaseMs))
    throw ConfigError("configuration: 'redlock.max_lease_ms' (" +
                      std::to_string(config.redlock.maxLeaseMs) +
                      ") must not be shorter than lock.lockables." + lockable.name + ".lease_ms (" +
                      std::to_string(lockable.lease.count()) + ")");
  return lockable;
}

void checkLocks(const Config& config) {
  for (const auto* lockable : {&kAnnouncementPins, &kSeats, &kCoupons})
    configuredLock(config, *lockable);
}

}  // namespace festa
