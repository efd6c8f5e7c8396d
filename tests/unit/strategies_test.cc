#include "app/strategies.h"

#include "controllers/embedded_files.h"
#include "controllers/json_body.h"
#include "services/error.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace festa::test {

using drogon::HttpRequestPtr;
using lock::Lease;

namespace {

// Counts how often it is closed; no lock is ever asked of it.
class IdleStorage : public lock::LockStorage {
 public:
  drogon::Task<std::optional<Lease>> tryLock(lock::LockRequest) override { co_return std::nullopt; }
  drogon::Task<bool> extend(Lease&, lock::Extension) override { co_return false; }
  drogon::Task<lock::Unlocked> unlock(Lease) override { co_return lock::Unlocked::kLost; }
  void close() override { ++closed; }

  int closed = 0;
};

const auto kStorage = std::make_shared<IdleStorage>();
constexpr std::int64_t kFence = 4294967297;
const lock::SteadyTime kValidUntil{std::chrono::hours(7)};

std::shared_ptr<const Strategies> strategies() {
  std::map<std::string, std::shared_ptr<lock::LockStorage>> storages;
  for (const auto& row : strategyTable())
    if (row.takesLock) storages[row.name] = kStorage;
  return std::make_shared<Strategies>(storages, std::set<std::string>{});
}

using Headers = std::map<std::string, std::string>;

HttpRequestPtr request(const Headers& headers = {}) {
  auto request = drogon::HttpRequest::newHttpRequest();
  for (const auto& [name, value] : headers) request->addHeader(name, value);
  return request;
}

lock::Plan plan(bool lab, const Headers& headers = {}, const std::string& configured = "memory") {
  lock::Lockable lockable{"pins", "pins:{path.id}"};
  lockable.strategy = configured;
  return makePlanner(strategies(), lab)(request(headers), lockable);
}

std::optional<ErrorCode> failureOf(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const ServiceError& error) {
    return error.code();
  }
}

struct Held {
  std::string strategy = "memory";
  bool backstop = true;
  bool granted = true;
};

std::shared_ptr<lock::LockHold> holdFor(const Held& held) {
  lock::Plan plan{strategies()->strategy(*Strategies::find(held.strategy)), held.backstop};
  auto hold = std::make_shared<lock::LockHold>("pins", std::move(plan), "pins:1");
  if (held.granted) hold->grant(Lease{"pins:1", "owner-1", kFence, kValidUntil});
  return hold;
}

LabPauses labPauses;

std::string labFaultPattern() {
  for (const auto& file : docsFiles())
    if (file.name == "openapi.json")
      return parseJsonObject(
                 file.content)["components"]["parameters"]["LabFault"]["schema"]["pattern"]
          .asString();
  throw std::runtime_error("no openapi.json");
}

WriteGuard guardFor(const Held& held, bool lab = false, const Headers& headers = {}) {
  const auto guarded = request(headers);
  lock::attachHold(guarded, holdFor(held));
  return makeGuardFactory(lab ? &labPauses : nullptr, std::chrono::milliseconds(900))(guarded);
}

}  // namespace

TEST(Strategies, EveryRowIsFoundByItsNameAndNamesAreUnique) {
  std::set<std::string> names;
  for (const auto& row : strategyTable()) {
    EXPECT_EQ(Strategies::find(row.name), &row);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(names.size(), strategyTable().size());
}

TEST(Strategies, UnknownNamesAreNotFound) {
  for (const auto* name : {"", "Memory", "memory ", "redis-of-dreams"})
    EXPECT_EQ(Strategies::find(name), nullptr) << name;
}

TEST(Strategies, NoneProtectsNothingAndIsForTheLab) {
  const auto* none = Strategies::find("none");
  ASSERT_NE(none, nullptr);
  EXPECT_FALSE(none->takesLock);
  EXPECT_EQ(none->inside, Guard::kNone);
  EXPECT_TRUE(none->labOnly);
}

TEST(Strategies, MemoryTakesALockInThisProcessOnly) {
  const auto* memory = Strategies::find("memory");
  ASSERT_NE(memory, nullptr);
  EXPECT_TRUE(memory->takesLock);
  EXPECT_FALSE(memory->labOnly);
  EXPECT_FALSE(memory->acrossProcesses);
}

TEST(Strategies, ConstraintsWorkInsideTheTransactionAndAcrossProcesses) {
  const auto* constraint = Strategies::find("pg-constraint");
  ASSERT_NE(constraint, nullptr);
  EXPECT_FALSE(constraint->takesLock);
  EXPECT_EQ(constraint->inside, Guard::kConstraint);
  EXPECT_FALSE(constraint->labOnly);
  EXPECT_TRUE(constraint->acrossProcesses);
}

TEST(Strategies, RepeatableReadIsANegativeControlForTheLab) {
  const auto* repeatable = Strategies::find("pg-repeatable-read");
  ASSERT_NE(repeatable, nullptr);
  EXPECT_EQ(repeatable->inside, Guard::kRepeatableRead);
  EXPECT_TRUE(repeatable->labOnly);
}

TEST(Strategies, WhatProtectsNothingIsForTheLabOnly) {
  for (const auto& row : strategyTable())
    EXPECT_TRUE(row.takesLock || row.inside != Guard::kNone || row.queues || row.labOnly)
        << row.name;
}

TEST(Strategies, OnlyRowsThatTakeALockHaveAStorage) {
  const auto memory = strategies()->strategy(*Strategies::find("memory"));
  EXPECT_EQ(memory.name, "memory");
  EXPECT_EQ(memory.storage, kStorage);
  const auto none = strategies()->strategy(*Strategies::find("none"));
  EXPECT_EQ(none.name, "none");
  EXPECT_EQ(none.storage, nullptr);
}

TEST(Strategies, ARowWithoutItsStorageIsAnError) {
  EXPECT_THROW(Strategies({}, {}).strategy(*Strategies::find("memory")), std::out_of_range);
}

TEST(Strategies, CloseEndsAllWaiting) {
  const auto before = kStorage->closed;
  strategies()->close();
  EXPECT_GT(kStorage->closed, before);
}

TEST(Planner, InTheLabAStrategyWithoutItsServerIsRefused) {
  const auto bare = std::make_shared<Strategies>(
      std::map<std::string, std::shared_ptr<lock::LockStorage>>{{"memory", kStorage}},
      std::set<std::string>{});
  lock::Lockable lockable{"pins", "pins:{path.id}"};
  lockable.strategy = "memory";
  const auto plan = makePlanner(bare, true);
  EXPECT_THROW(plan(request({{"X-Concurrency", "redis-spin"}}), lockable), ServiceError);
}

TEST(Planner, OutsideTheLabTheConfiguredStrategyIsUsedWithItsBackstop) {
  EXPECT_EQ(plan(false).strategy.name, "memory");
  EXPECT_EQ(plan(false).strategy.storage, kStorage);
  EXPECT_TRUE(plan(false).backstop);
  EXPECT_EQ(plan(false, {}, "pg-constraint").strategy.name, "pg-constraint");
}

TEST(Planner, OutsideTheLabHeadersAreIgnored) {
  for (const auto* name : {"none", "pg-constraint", "nonsense"}) {
    const auto chosen = plan(false, {{"X-Concurrency", name}, {"X-Backstop", "off"}});
    EXPECT_EQ(chosen.strategy.name, "memory") << name;
    EXPECT_TRUE(chosen.backstop) << name;
  }
  EXPECT_TRUE(plan(false, {{"X-Backstop", "nonsense"}}).backstop);
}

TEST(Planner, InTheLabAHeaderChoosesTheStrategyBare) {
  for (const auto& row : strategyTable()) {
    if (row.queues) {
      EXPECT_THROW(plan(true, {{"X-Concurrency", row.name}}), ServiceError) << "not for these";
      continue;
    }
    const auto chosen = plan(true, {{"X-Concurrency", row.name}});
    EXPECT_EQ(chosen.strategy.name, row.name);
    EXPECT_EQ(chosen.strategy.storage != nullptr, row.takesLock) << row.name;
    EXPECT_FALSE(chosen.backstop) << row.name;
  }
}

TEST(Planner, InTheLabWithoutHeadersAllIsAsConfigured) {
  const auto chosen = plan(true, {}, "pg-constraint");
  EXPECT_EQ(chosen.strategy.name, "pg-constraint");
  EXPECT_TRUE(chosen.backstop);
}

TEST(Planner, InTheLabAHeaderTurnsTheBackstopOnAndOff) {
  EXPECT_TRUE(plan(true, {{"X-Concurrency", "none"}, {"X-Backstop", "on"}}).backstop);
  EXPECT_FALSE(plan(true, {{"X-Concurrency", "none"}, {"X-Backstop", "off"}}).backstop);
  EXPECT_TRUE(plan(true, {{"X-Backstop", "on"}}).backstop);
  const auto off = plan(true, {{"X-Backstop", "off"}});
  EXPECT_FALSE(off.backstop);
  EXPECT_EQ(off.strategy.name, "memory");
}

TEST(Planner, InTheLabUnknownHeaderValuesAreRefused) {
  for (const Headers& headers : {Headers{{"X-Concurrency", "nonsense"}},
                                 {{"X-Concurrency", "None"}},
                                 {{"X-Backstop", "ON"}},
                                 {{"X-Backstop", "true"}},
                                 {{"X-Concurrency", "none"}, {"X-Backstop", "maybe"}}})
    EXPECT_EQ(failureOf([&] { plan(true, headers); }), ErrorCode::kInvalidParameter)
        << headers.begin()->second;
}

TEST(GuardFactory, ARequestWithoutAHoldIsABugOfOurs) {
  for (auto* const lab : {static_cast<LabPauses*>(nullptr), &labPauses})
    EXPECT_THROW(makeGuardFactory(lab, std::chrono::milliseconds(900))(request()),
                 std::logic_error);
}

TEST(GuardFactory, AHoldWithBackstopGivesItsFenceAndItsDeadline) {
  const auto guard = guardFor({});
  EXPECT_EQ(guard.inside, Guard::kNone);
  EXPECT_TRUE(guard.backstop);
  EXPECT_TRUE(guard.usesConstraints());
  EXPECT_EQ(guard.fence, kFence);
  EXPECT_EQ(guard.validUntil(), kValidUntil);
  EXPECT_TRUE(guard.renewFence);
  EXPECT_FALSE(guard.beforeCommit);
}

TEST(GuardFactory, TheDeadlineIsThatOfTheHoldAtTheMomentOfAsking) {
  const auto guarded = request();
  const auto hold = holdFor({});
  lock::attachHold(guarded, hold);
  const auto guard = makeGuardFactory(nullptr, std::chrono::milliseconds(900))(guarded);
  hold->grant(Lease{"pins:1", "owner-1", kFence, kValidUntil + std::chrono::hours(1)});
  EXPECT_EQ(guard.validUntil(), kValidUntil + std::chrono::hours(1));
  // The storage of this test says that the hold is lost.
  drogon::sync_wait(hold->renewFence(kFence));
  EXPECT_LT(guard.validUntil(), kValidUntil);
}

TEST(GuardFactory, AHoldWithoutBackstopHasADeadlineButNoFence) {
  const auto guard = guardFor({.backstop = false});
  EXPECT_FALSE(guard.backstop);
  EXPECT_FALSE(guard.usesConstraints());
  EXPECT_EQ(guard.fence, std::nullopt);
  EXPECT_FALSE(guard.renewFence);
  EXPECT_EQ(guard.validUntil(), kValidUntil);
  EXPECT_TRUE(guard.commitUnknown);
}

TEST(GuardFactory, AStrategyThatTakesNoLockHasNeitherFenceNorDeadline) {
  const auto guard = guardFor({.strategy = "pg-constraint", .backstop = false, .granted = false});
  EXPECT_EQ(guard.inside, Guard::kConstraint);
  EXPECT_TRUE(guard.usesConstraints());
  EXPECT_EQ(guard.fence, std::nullopt);
  EXPECT_EQ(guard.validUntil(), SteadyTime::max());
  EXPECT_FALSE(guard.renewFence);
  EXPECT_FALSE(guard.commitUnknown);
}

TEST(GuardFactory, AnUnknownCommitLeavesTheHoldToExpire) {
  const auto guarded = request();
  const auto hold = holdFor({});
  lock::attachHold(guarded, hold);
  const auto guard = makeGuardFactory(nullptr, std::chrono::milliseconds(900))(guarded);
  EXPECT_FALSE(hold->leftToExpire());
  guard.commitUnknown();
  EXPECT_TRUE(hold->leftToExpire());
}

TEST(GuardFactory, FaultsAreForTheLabOnly) {
  for (const auto* fault :
       {"release-before-commit", "throw-before-commit", "throw-number-before-commit",
        "pause-before-commit=20", "pause-before-commit=60000"}) {
    EXPECT_TRUE(guardFor({}, true, {{"X-Lab-Fault", fault}}).beforeCommit) << fault;
    EXPECT_FALSE(guardFor({}, false, {{"X-Lab-Fault", fault}}).beforeCommit) << fault;
  }
  EXPECT_FALSE(guardFor({}, true).beforeCommit);
  EXPECT_EQ(failureOf([] { guardFor({}, false, {{"X-Lab-Fault", "nonsense"}}); }), std::nullopt);
}

TEST(GuardFactory, UnknownFaultsAreRefused) {
  for (const auto* fault :
       {"nonsense", "pause-before-commit", "pause-before-commit=", "pause-before-commit=x",
        "pause-before-commit=-5", "pause-before-commit=0", "pause-before-commit=60001",
        "pause-before-commit=999999999999", "pause-before-commit=9223372036854775807"})
    EXPECT_EQ(failureOf([&] {
                guardFor({}, true, {{"X-Lab-Fault", fault}});
              }),
              ErrorCode::kInvalidParameter)
        << fault;
}

TEST(GuardFactory, TheFaultsAreThoseOfTheOpenApiDocument) {
  const std::regex described(labFaultPattern());
  for (const auto* fault :
       {"release-before-commit", "throw-before-commit", "throw-number-before-commit",
        "pause-before-commit=1", "pause-before-commit=9999", "pause-before-commit=59999",
        "pause-before-commit=60000", "pause-before-commit=60001", "pause-before-commit=70000",
        "pause-before-commit=100000", "pause-before-commit=0", "pause-before-commit=01",
        "pause-before-commit=", "nonsense"}) {
    const auto failure = failureOf([&] { guardFor({}, true, {{"X-Lab-Fault", fault}}); });
    EXPECT_EQ(std::regex_match(fault, described), !failure) << fault;
  }
}

TEST(GuardFactory, AThrowingFaultThrows) {
  const auto guard = guardFor({}, true, {{"X-Lab-Fault", "throw-before-commit"}});
  EXPECT_THROW(drogon::sync_wait(guard.beforeCommit()), std::runtime_error);
  const auto odd = guardFor({}, true, {{"X-Lab-Fault", "throw-number-before-commit"}});
  EXPECT_THROW(drogon::sync_wait(odd.beforeCommit()), int);
}

}  // namespace festa::test
