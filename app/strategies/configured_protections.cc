#include "app/strategies/configured_protections.h"

#include "app/config/lock_settings.h"

namespace festa {

lock::Lockable ConfiguredProtections::configured(lock::Lockable lockable) const {
  return configuredLock(config_, std::move(lockable));
}

Protection ConfiguredProtections::of(const drogon::HttpRequestPtr&,
                                     const lock::Lockable& lockable) const {
  const auto& row = *findStrategy(lockable.strategy);
  Protection protection;
  protection.lock = strategies_.lockOf(row);
  protection.inside = row.inside;
  protection.queue = strategies_.queueOf(row);
  // Below the client's own patience with a statement.
  protection.longestLockWait = config_.database.poolTimeout * 9 / 10;
  return protection;
}

std::unique_ptr<WriteObserver> ConfiguredProtections::observe(const drogon::HttpRequestPtr& request,
                                                              lock::LockHold& hold) const {
  return metrics_.observeWrites(request, hold);
}

}  // namespace festa
