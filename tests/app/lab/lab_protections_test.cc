// How requests of the lab are protected: as they wish.
#include "app/lab/lab_protections.h"
#include "controllers/json/json_body.h"
#include "controllers/pages/embedded_files.h"
#include "tests/app/strategies/protections_fixture.h"

#include <regex>

namespace festa::test {

namespace {

std::string labFaultPattern() {
  for (const auto& file : docsFiles())
    if (file.name == "openapi.json")
      return parseJsonObject(
                 file.content)["components"]["parameters"]["LabFault"]["schema"]["pattern"]
          .asString();
  throw std::runtime_error("no openapi.json");
}

// Grants everything, and notes what it was asked for.
class NotingStorage : public IdleStorage {
 public:
  drogon::Task<std::optional<lock::Lease>> tryLock(lock::LockRequest request) override {
    together = request.together;
    co_return lock::Lease{request.key, "owner-1", 1, {}};
  }
  std::size_t together = 0;
};

class LabProtectionsTest : public ProtectionsTest {
 protected:
  std::optional<ErrorCode> failureOf(const Headers& headers) const {
    try {
      of(guarded_, headers);
      return std::nullopt;
    } catch (const ServiceError& error) {
      return error.code();
    }
  }
  static std::optional<Backstop> backstop(const Headers& headers) {
    return backstopOf(*request(headers));
  }
  std::unique_ptr<WriteObserver> faulty(const std::string& fault) {
    return guarded_.observe(request({{"X-Lab-Fault", fault}}), *held_);
  }
  // How many hold a key together, of requests that ask for 64.
  std::size_t togetherBy(const LabProtections& lab, const Headers& headers) {
    const auto chosen = of(lab, headers);
    drogon::sync_wait(chosen.lock.storage->tryLock({"pins:1", {}, {}, 64}));
    return storage_.together;
  }

  NotingStorage storage_;
  const Strategies strategies_ = allStorages(storage_);
  const ConfiguredProtections configured_{config_, strategies_, metrics_};
  LabPauses pauses_;
  const LabTimekeeper times_{metrics_, "here:1"};
  const LabProtections guarded_{configured_, strategies_, pauses_, times_, Backstop::kOn};
  const LabProtections bare_{configured_, strategies_, pauses_, times_, Backstop::kOff};
  const std::shared_ptr<lock::LockHold> held_ = hold();
};

}  // namespace

TEST_F(LabProtectionsTest, AHeaderChoosesTheStrategy) {
  for (const auto& row : strategyTable()) {
    if (row.queues) {
      EXPECT_EQ(failureOf({{"X-Concurrency", row.name}}), ErrorCode::kInvalidParameter)
          << "not for these";
      continue;
    }
    for (const auto* lab : {&guarded_, &bare_}) {
      const auto chosen = of(*lab, {{"X-Concurrency", row.name}});
      EXPECT_EQ(chosen.lock.name, row.name);
      EXPECT_EQ(chosen.lock.storage != nullptr, row.takesLock()) << row.name;
      EXPECT_EQ(chosen.inside, row.inside) << row.name;
    }
  }
}

TEST_F(LabProtectionsTest, AStrategyWithoutItsServerIsRefused) {
  Strategies memoryOnly;
  memoryOnly.add("memory", storage_);
  const ConfiguredProtections configured(config_, memoryOnly, metrics_);
  const LabProtections lab(configured, memoryOnly, pauses_, times_, Backstop::kOn);
  EXPECT_THROW(of(lab, {{"X-Concurrency", "redis-spin"}}), ServiceError);
}

TEST_F(LabProtectionsTest, WithoutHeadersAllIsAsConfigured) {
  EXPECT_EQ(of(guarded_, {}, "pg-constraint").lock.name, "pg-constraint");
  EXPECT_EQ(of(guarded_).lock.storage, &storage_);
  EXPECT_EQ(backstop({}), Backstop::kOn);
}

TEST_F(LabProtectionsTest, AStrategyIsAloneUnlessTheBackstopIsAskedFor) {
  EXPECT_EQ(backstop({{"X-Concurrency", "memory"}}), Backstop::kOff);
  EXPECT_EQ(backstop({{"X-Concurrency", "none"}, {"X-Backstop", "on"}}), Backstop::kOn);
  EXPECT_EQ(backstop({{"X-Concurrency", "none"}, {"X-Backstop", "off"}}), Backstop::kOff);
  EXPECT_EQ(backstop({{"X-Backstop", "on"}}), Backstop::kOn);
  EXPECT_EQ(backstop({{"X-Backstop", "off"}}), Backstop::kOff);
}

TEST_F(LabProtectionsTest, UnknownHeaderValuesAreRefused) {
  for (const Headers& headers : {Headers{{"X-Concurrency", "nonsense"}},
                                 {{"X-Concurrency", "None"}},
                                 {{"X-Backstop", "ON"}},
                                 {{"X-Backstop", "true"}},
                                 {{"X-Backstop", "single"}},
                                 {{"X-Concurrency", "none"}, {"X-Backstop", "maybe"}}})
    EXPECT_EQ(failureOf(headers), ErrorCode::kInvalidParameter) << headers.begin()->second;
}

TEST_F(LabProtectionsTest, AStrategyAloneAndAFaultShareNoHold) {
  EXPECT_EQ(togetherBy(guarded_, {}), 64U);
  EXPECT_EQ(togetherBy(guarded_, {{"X-Concurrency", "redis-fair"}, {"X-Backstop", "on"}}), 64U);
  EXPECT_EQ(togetherBy(guarded_, {{"X-Lab-Fault", "throw-before-commit"}}), 1U)
      << "others would wait for the fault";
  for (const auto& row : strategyTable())
    if (row.takesLock()) {
      EXPECT_EQ(togetherBy(bare_, {{"X-Concurrency", row.name}}), 1U)
          << row.name << ": a broken lock would hide in a shared hold";
    }
}

TEST_F(LabProtectionsTest, AHoldHasADeadlineAlwaysAndAFenceWithABackstopOnly) {
  HeldLock seen(*held_);
  const auto guarded = guarded_.guard(of(guarded_), *held_, seen);
  EXPECT_EQ(guarded.fence, kFence);
  EXPECT_EQ(guarded.validUntil(), kValidUntil);
  const auto bare = bare_.guard(of(bare_, {{"X-Concurrency", "memory"}}), *held_, seen);
  EXPECT_EQ(bare.fence, std::nullopt);
  EXPECT_EQ(bare.validUntil(), kValidUntil);
}

TEST_F(LabProtectionsTest, AStrategyThatTakesNoLockHasNeitherFenceNorDeadline) {
  const auto held = hold("pg-constraint");
  HeldLock seen(*held);
  const auto guard = bare_.guard(of(bare_, {{"X-Concurrency", "pg-constraint"}}), *held, seen);
  EXPECT_EQ(guard.inside, Guard::kConstraint);
  EXPECT_EQ(guard.hold, nullptr);
  EXPECT_EQ(guard.fence, std::nullopt);
  EXPECT_EQ(guard.validUntil(), SteadyTime::max());
}

TEST_F(LabProtectionsTest, UnknownFaultsAreRefused) {
  for (const auto* fault :
       {"nonsense", "pause-before-commit", "pause-before-commit=", "pause-before-commit=x",
        "pause-before-commit=-5", "pause-before-commit=0", "pause-before-commit=60001",
        "pause-before-commit=999999999999", "pause-before-commit=9223372036854775807"})
    EXPECT_EQ(failureOf({{"X-Lab-Fault", fault}}), ErrorCode::kInvalidParameter) << fault;
}

TEST_F(LabProtectionsTest, TheFaultsAreThoseOfTheOpenApiDocument) {
  const std::regex described(labFaultPattern());
  for (const auto* fault :
       {"release-before-commit", "throw-before-commit", "throw-number-before-commit",
        "pause-before-commit=1", "pause-before-commit=9999", "pause-before-commit=59999",
        "pause-before-commit=60000", "pause-before-commit=60001", "pause-before-commit=70000",
        "pause-before-commit=100000", "pause-before-commit=0", "pause-before-commit=01",
        "pause-before-commit=", "nonsense"})
    EXPECT_EQ(std::regex_match(fault, described), !failureOf({{"X-Lab-Fault", fault}})) << fault;
}

TEST_F(LabProtectionsTest, AThrowingFaultThrowsBeforeCommit) {
  EXPECT_THROW(drogon::sync_wait(faulty("throw-before-commit")->beforeCommit()),
               std::runtime_error);
  EXPECT_THROW(drogon::sync_wait(faulty("throw-number-before-commit")->beforeCommit()), int);
  EXPECT_FALSE(faulty("")->hasTestPoint());
}

}  // namespace festa::test
