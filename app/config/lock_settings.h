// Lockables as configured, and the check that they can work.
#pragma once

#include "app/config/config.h"
#include "app/strategies/strategies.h"
#include "lock/lockable.h"

#include <array>
#include <set>

namespace festa {

// A declared Lockable with the configured changes. Throws ConfigError when they cannot work: an
// unknown strategy, one for the lab only, one that cannot span the configured number of processes,
// a lease that the time-outs of the longest attempt can outlast or that Redlock cannot give, or a
// longest hold below the lease.
lock::Lockable configuredLock(const Config& config, lock::Lockable lockable);

// Every Lockable of this program, as declared.
std::array<const lock::Lockable*, kLockableNames.size()> declaredLocks();

// What the configured strategies need, and in the lab what any strategy needs; configured or not.
// Throws ConfigError for an unknown strategy.
std::set<Needs> neededServers(const Config& config);

// configuredLock() for all of them, before anything is touched.
void checkLocks(const Config& config);

}  // namespace festa
