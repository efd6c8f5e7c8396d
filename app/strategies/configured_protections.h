// Writes are protected as configuration says.
#pragma once

#include "app/config/config.h"
#include "app/operations/metrics.h"
#include "app/strategies/strategies.h"
#include "controllers/http/protection.h"

namespace festa {

// Thread-safe; what it is made of outlives it.
class ConfiguredProtections : public Protections {
 public:
  ConfiguredProtections(const Config& config, const Strategies& strategies, Metrics& metrics)
      : config_(config), strategies_(strategies), metrics_(metrics) {}

  // Throws ConfigError, see configuredLock().
  lock::Lockable configured(lock::Lockable lockable) const override;
  // The Lockable's strategy. Headers of the request are ignored.
  Protection of(const drogon::HttpRequestPtr& request,
                const lock::Lockable& lockable) const override;
  std::unique_ptr<WriteObserver> observe(const drogon::HttpRequestPtr& request,
                                         lock::LockHold& hold) const override;

 private:
  const Config& config_;
  const Strategies& strategies_;
  Metrics& metrics_;
};

}  // namespace festa
