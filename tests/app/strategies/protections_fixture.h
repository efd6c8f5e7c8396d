// What tests of protections need: a request with headers, a storage of every strategy, a hold.
#pragma once

#include "app/strategies/configured_protections.h"
#include "controllers/http/protection.h"
#include "controllers/http/request_context.h"
#include "services/error.h"
#include "tests/support/lock/idle_storage.h"

#include <gtest/gtest.h>

namespace festa::test {

class ProtectionsTest : public testing::Test {
 protected:
  using Headers = std::map<std::string, std::string>;
  static constexpr std::int64_t kFence = 4294967297;
  static inline const lock::SteadyTime kValidUntil{std::chrono::hours(7)};

  static drogon::HttpRequestPtr request(const Headers& headers = {}) {
    auto request = drogon::HttpRequest::newHttpRequest();
    for (const auto& [name, value] : headers) request->addHeader(name, value);
    attachContext(request);
    return request;
  }
  static Strategies allStorages(lock::LockStorage& storage) {
    Strategies strategies;
    for (const auto& row : strategyTable())
      if (row.takesLock()) strategies.add(row.name, storage);
    return strategies;
  }
  static Protection of(const Protections& protections, const Headers& headers = {},
                       const std::string& configured = "memory") {
    lock::Lockable lockable{"pins", "pins:{path.id}"};
    lockable.strategy = configured;
    return protections.of(request(headers), lockable);
  }
  std::shared_ptr<lock::LockHold> hold(const std::string& strategy = "memory") {
    auto hold = std::make_shared<lock::LockHold>(
        "pins", strategies_.lockOf(*findStrategy(strategy)), "pins:1");
    if (hold->strategy().storage != nullptr)
      hold->grant(lock::Lease{"pins:1", "owner-1", kFence, kValidUntil});
    return hold;
  }

  IdleStorage storage_;
  const Strategies strategies_ = allStorages(storage_);
  const Config config_;
  Metrics metrics_;
  const ConfiguredProtections configured_{config_, strategies_, metrics_};
};

}  // namespace festa::test
