#include "lock/storages.h"

#include "lock/redis/redis_epoch.h"
#include "tests/support/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace festa::test {

namespace {

using lock::Order;
using lock::Servers;
using testing::HasSubstr;
using testing::Not;

class NoEpochs : public lock::EpochSource {
 public:
  drogon::Task<std::int64_t> draw() override { throw std::logic_error("not to be drawn here"); }
};

}  // namespace

TEST(Storages, EveryRowIsFoundByItsNameAndNamesAreUnique) {
  std::set<std::string> names;
  for (const auto& row : lock::storageTable()) {
    EXPECT_EQ(lock::findStorage(row.name), &row);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(lock::findStorage("redis-of-dreams"), nullptr);
}

TEST(Storages, ThoseOnServersHaveKeysOfTheirOwn) {
  std::set<std::string> keys;
  for (const auto& row : lock::storageTable()) {
    EXPECT_EQ(row.needs == Servers::kNone, std::string(row.keys).empty()) << row.name;
    if (row.needs != Servers::kNone) {
      EXPECT_TRUE(keys.insert(row.keys).second) << row.name;
    }
  }
}

TEST(Storages, WorkAcrossProcessesWithServersOnlyAndAreOrderedOverallAcrossProcessesOnly) {
  for (const auto& row : lock::storageTable()) {
    EXPECT_EQ(row.acrossProcesses, row.needs != Servers::kNone) << row.name;
    EXPECT_TRUE(row.acrossProcesses || row.order != Order::kOverall) << row.name;
  }
}

TEST(Storages, OneIsRecommendedForOneProcessAndOneForSeveral) {
  std::multiset<bool> scopes;
  for (const auto& row : lock::storageTable())
    if (row.recommended) scopes.insert(row.acrossProcesses);
  EXPECT_EQ(scopes, (std::multiset<bool>{false, true}));
}

TEST(Storages, EveryRowIsDescribedInWordsThatFitATable) {
  for (const auto& row : lock::storageTable())
    for (const std::string text : {row.what, row.use}) {
      EXPECT_FALSE(text.empty()) << row.name;
      EXPECT_THAT(text, Not(testing::AnyOf(HasSubstr("|"), HasSubstr("\n")))) << row.name;
    }
}

TEST(Storages, SurroundingsHaveTheServersThatAreGiven) {
  const Loops loops;
  NoEpochs epochs;
  lock::StorageSurroundings around{loops.at(0), 1};
  EXPECT_TRUE(around.have(Servers::kNone));
  EXPECT_FALSE(around.have(Servers::kRedis));
  EXPECT_FALSE(around.have(Servers::kRedlock));
  around.redlock.emplace(lock::StorageSurroundings::RedlockNodes{
      {}, epochs, "test", lock::Millis{50}, lock::Millis{10'000}});
  EXPECT_TRUE(around.have(Servers::kRedlock));
}

TEST(Storages, ThoseWithoutServersAreMadeOfTheProcessesEpoch) {
  Loops loops(2);
  const lock::StorageSurroundings around{loops.at(0), 7};
  for (const auto& row : lock::storageTable()) {
    if (row.needs != Servers::kNone) continue;
    const auto storage = row.makeIn(around);
    const lock::LockRequest request{"k", lock::Millis{0}, lock::Millis{30'000}};
    const auto lease = runOn(loops.at(1), [&] { return storage->tryLock(request); });
    ASSERT_TRUE(lease) << row.name;
    EXPECT_EQ(lease->fence >> 32, 7) << row.name;
  }
}

}  // namespace festa::test
