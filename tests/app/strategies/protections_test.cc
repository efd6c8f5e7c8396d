// How requests are protected: as configured, and in the lab as they wish.
#include "app/lab/lab_protections.h"
#include "app/strategies/configured_protections.h"
#include "controllers/http/protection.h"
#include "controllers/http/request_context.h"
#include "controllers/json/json_body.h"
#include "controllers/pages/embedded_files.h"
#include "services/error.h"
#include "tests/support/lock/idle_storage.h"

#include <gtest/gtest.h>

#include <regex>

namespace festa::test {

using drogon::HttpRequestPtr;
using lock::Lease;

namespace {

constexpr std::int64_t kFence = 4294967297;
const lock::SteadyTime kValidUntil{std::chrono::hours(7)};

using Headers = std::map<std::string, std::string>;

HttpRequestPtr request(const Headers& headers = {}) {
  auto request = drogon::HttpRequest::newHttpRequest();
  for (const auto& [name, value] : headers) request->addHeader(name, value);
  attachContext(request);
  return request;
}

Strategies allStorages(lock::LockStorage& storage) {
  Strategies strategies;
  for (const auto& row : strategyTable())
    if (row.takesLock()) strategies.add(row.name, storage);
  return strategies;
}

std::string labFaultPattern() {
  for (const auto& file : docsFiles())
    if (file.name == "openapi.json")
      return parseJsonObject(
                 file.content)["components"]["parameters"]["LabFault"]["schema"]["pattern"]
          .asString();
  throw std::runtime_error("no openapi.json");
}

class ProtectionsTest : public testing::Test {
 protected:
  Protection of(const Protections& protections, const Headers& headers = {},
                const std::string& configured = "memory") const {
    lock::Lockable lockable{"pins", "pins:{path.id}"};
    lockable.strategy = configured;
    return protections.of(request(headers), lockable);
  }
  std::optional<ErrorCode> failureOf(const Headers& headers) const {
    try {
      of(lab_, headers);
      return std::nullopt;
    } catch (const ServiceError& error) {
      return error.code();
    }
  }
  std::shared_ptr<lock::LockHold> hold(const std::string& strategy = "memory") {
    auto hold = std::make_shared<lock::LockHold>(
        "pins", strategies_.lockOf(*findStrategy(strategy)), "pins:1");
    if (hold->strategy().storage != nullptr)
      hold->grant(Lease{"pins:1", "owner-1", kFence, kValidUntil});
    return hold;
  }
  std::unique_ptr<WriteObserver> faulty(const std::string& fault) {
    return lab_.observe(request({{"X-Lab-Fault", fault}}), *held_);
  }

  IdleStorage storage_;
  const Strategies strategies_ = allStorages(storage_);
  const Config config_;
  Metrics metrics_;
  LabPauses pauses_;
  const ConfiguredProtections configured_{config_, strategies_, metrics_};
  const LabTimekeeper times_{metrics_, "here:1"};
  const LabProtections lab_{configured_, strategies_, pauses_, times_};
  const std::shared_ptr<lock::LockHold> held_ = hold();
};

}  // namespace

TEST_F(ProtectionsTest, OutsideTheLabTheConfiguredStrategyIsUsedWithItsBackstop) {
  const auto memory = of(configured_);
  EXPECT_EQ(memory.lock.name, "memory");
  EXPECT_EQ(memory.lock.storage, &storage_);
  EXPECT_EQ(memory.inside, Guard::kNone);
  EXPECT_EQ(memory.queue, nullptr);
  EXPECT_FALSE(memory.isAlone);
  const auto constraint = of(configured_, {}, "pg-constraint");
  EXPECT_EQ(constraint.lock.name, "pg-constraint");
  EXPECT_EQ(constraint.lock.storage, nullptr);
  EXPECT_EQ(constraint.inside, Guard::kConstraint);
}

TEST_F(ProtectionsTest, OutsideTheLabHeadersAreIgnored) {
  for (const auto* name : {"none", "pg-constraint", "nonsense"}) {
    const auto chosen = of(configured_, {{"X-Concurrency", name}, {"X-Backstop", "off"}});
    EXPECT_EQ(chosen.lock.name, "memory") << name;
    EXPECT_FALSE(chosen.isAlone) << name;
  }
  EXPECT_FALSE(of(configured_, {{"X-Backstop", "nonsense"}, {"X-Lab-Fault", "nonsense"}}).isAlone);
}

TEST_F(ProtectionsTest, InTheLabAHeaderChoosesTheStrategyBare) {
  for (const auto& row : strategyTable()) {
    if (row.queues) {
      EXPECT_EQ(failureOf({{"X-Concurrency", row.name}}), ErrorCode::kInvalidParameter)
          << "not for these";
      continue;
    }
    const auto chosen = of(lab_, {{"X-Concurrency", row.name}});
    EXPECT_EQ(chosen.lock.name, row.name);
    EXPECT_EQ(chosen.lock.storage != nullptr, row.takesLock()) << row.name;
    EXPECT_EQ(chosen.inside, row.inside) << row.name;
    EXPECT_TRUE(chosen.isAlone) << row.name;
    EXPECT_TRUE(chosen.lock.alone) << row.name << ": a broken lock would hide in a shared hold";
  }
}

TEST_F(ProtectionsTest, InTheLabAStrategyWithoutItsServerIsRefused) {
  Strategies bare;
  bare.add("memory", storage_);
  const ConfiguredProtections configured(config_, bare, metrics_);
  const LabProtections lab(configured, bare, pauses_, times_);
  EXPECT_THROW(of(lab, {{"X-Concurrency", "redis-spin"}}), ServiceError);
}

TEST_F(ProtectionsTest, InTheLabWithoutHeadersAllIsAsConfigured) {
  const auto chosen = of(lab_, {}, "pg-constraint");
  EXPECT_EQ(chosen.lock.name, "pg-constraint");
  EXPECT_FALSE(chosen.isAlone);
}

TEST_F(ProtectionsTest, InTheLabAHeaderTurnsTheBackstopOnAndOff) {
  EXPECT_FALSE(of(lab_, {{"X-Concurrency", "none"}, {"X-Backstop", "on"}}).isAlone);
  EXPECT_TRUE(of(lab_, {{"X-Concurrency", "none"}, {"X-Backstop", "off"}}).isAlone);
  EXPECT_FALSE(of(lab_, {{"X-Backstop", "on"}}).isAlone);
  const auto off = of(lab_, {{"X-Backstop", "off"}});
  EXPECT_TRUE(off.isAlone);
  EXPECT_EQ(off.lock.name, "memory");
}

TEST_F(ProtectionsTest, InTheLabASingleWriteHasTheBackstopAndSharesNothing) {
  EXPECT_TRUE(of(lab_, {{"X-Backstop", "on"}}).mayShare);
  const auto single = of(lab_, {{"X-Concurrency", "memory"}, {"X-Backstop", "single"}});
  EXPECT_FALSE(single.isAlone);
  EXPECT_FALSE(single.mayShare);
  EXPECT_TRUE(single.lock.alone);
  const auto held = hold();
  HeldLock seen(*held);
  EXPECT_FALSE(guardFor(single, *held, seen).mayShare);
}

TEST_F(ProtectionsTest, InTheLabUnknownHeaderValuesAreRefused) {
  for (const Headers& headers : {Headers{{"X-Concurrency", "nonsense"}},
                                 {{"X-Concurrency", "None"}},
                                 {{"X-Backstop", "ON"}},
                                 {{"X-Backstop", "true"}},
                                 {{"X-Concurrency", "none"}, {"X-Backstop", "maybe"}}})
    EXPECT_EQ(failureOf(headers), ErrorCode::kInvalidParameter) << headers.begin()->second;
}

TEST_F(ProtectionsTest, AHoldWithBackstopGivesItsFenceAndItsDeadline) {
  const auto held = hold();
  HeldLock seen(*held);
  const auto guard = guardFor(of(configured_), *held, seen);
  EXPECT_EQ(guard.unguarded, nullptr);
  EXPECT_EQ(guard.key, "pins:1");
  EXPECT_EQ(guard.fence, kFence);
  EXPECT_EQ(guard.validUntil(), kValidUntil);
  held->grant(Lease{"pins:1", "owner-1", kFence, kValidUntil + std::chrono::hours(1)});
  EXPECT_EQ(guard.validUntil(), kValidUntil + std::chrono::hours(1)) << "asked anew";
  // The storage of this test says that the hold is lost.
  drogon::sync_wait(guard.hold->renewFence(kFence));
  EXPECT_LT(guard.validUntil(), kValidUntil);
}

TEST_F(ProtectionsTest, AHoldWithoutBackstopHasADeadlineButNoFence) {
  const auto held = hold();
  HeldLock seen(*held);
  const auto guard = guardFor(of(lab_, {{"X-Concurrency", "memory"}}), *held, seen);
  EXPECT_NE(guard.unguarded, nullptr);
  EXPECT_EQ(guard.fence, std::nullopt);
  EXPECT_EQ(guard.validUntil(), kValidUntil);
}

TEST_F(ProtectionsTest, AStrategyThatTakesNoLockHasNeitherFenceNorDeadline) {
  const auto held = hold("pg-constraint");
  HeldLock seen(*held);
  const auto guard = guardFor(of(lab_, {{"X-Concurrency", "pg-constraint"}}), *held, seen);
  EXPECT_EQ(guard.inside, Guard::kConstraint);
  EXPECT_EQ(guard.unguarded, nullptr);
  EXPECT_EQ(guard.hold, nullptr);
  EXPECT_EQ(guard.fence, std::nullopt);
  EXPECT_EQ(guard.validUntil(), SteadyTime::max());
}

TEST_F(ProtectionsTest, AnUnknownCommitLeavesTheHoldToExpire) {
  const auto held = hold();
  HeldLock seen(*held);
  seen.leaveToExpire();
  EXPECT_TRUE(held->leftToExpire());
}

TEST_F(ProtectionsTest, UnknownFaultsAreRefused) {
  for (const auto* fault :
       {"nonsense", "pause-before-commit", "pause-before-commit=", "pause-before-commit=x",
        "pause-before-commit=-5", "pause-before-commit=0", "pause-before-commit=60001",
        "pause-before-commit=999999999999", "pause-before-commit=9223372036854775807"})
    EXPECT_EQ(failureOf({{"X-Lab-Fault", fault}}), ErrorCode::kInvalidParameter) << fault;
}

TEST_F(ProtectionsTest, TheFaultsAreThoseOfTheOpenApiDocument) {
  const std::regex described(labFaultPattern());
  for (const auto* fault :
       {"release-before-commit", "throw-before-commit", "throw-number-before-commit",
        "pause-before-commit=1", "pause-before-commit=9999", "pause-before-commit=59999",
        "pause-before-commit=60000", "pause-before-commit=60001", "pause-before-commit=70000",
        "pause-before-commit=100000", "pause-before-commit=0", "pause-before-commit=01",
        "pause-before-commit=", "nonsense"})
    EXPECT_EQ(std::regex_match(fault, described), !failureOf({{"X-Lab-Fault", fault}})) << fault;
}

TEST_F(ProtectionsTest, AThrowingFaultThrowsInTheLabOnly) {
  EXPECT_THROW(drogon::sync_wait(faulty("throw-before-commit")->committing()), std::runtime_error);
  EXPECT_THROW(drogon::sync_wait(faulty("throw-number-before-commit")->committing()), int);
  const auto outside =
      configured_.observe(request({{"X-Lab-Fault", "throw-before-commit"}}), *held_);
  EXPECT_NO_THROW(drogon::sync_wait(outside->committing()));
  EXPECT_NO_THROW(drogon::sync_wait(faulty("")->committing()));
}

}  // namespace festa::test
