#include "app/strategies/strategies.h"

#include "tests/support/lock/idle_storage.h"

#include <gtest/gtest.h>

#include <set>

namespace festa::test {

TEST(Strategies, EveryRowIsFoundByItsNameAndNamesAreUnique) {
  std::set<std::string> names;
  for (const auto& row : strategyTable()) {
    EXPECT_EQ(findStrategy(row.name), &row);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(names.size(), strategyTable().size());
}

TEST(Strategies, UnknownNamesAreNotFound) {
  for (const auto* name : {"", "Memory", "memory ", "redis-of-dreams"})
    EXPECT_EQ(findStrategy(name), nullptr) << name;
}

TEST(Strategies, NoneProtectsNothingAndIsForTheLab) {
  const auto* none = findStrategy("none");
  ASSERT_NE(none, nullptr);
  EXPECT_FALSE(none->takesLock());
  EXPECT_EQ(none->inside, Guard::kNone);
  EXPECT_TRUE(none->labOnly);
}

TEST(Strategies, EveryStorageIsARowWithItsPromises) {
  std::vector<const lock::StorageRow*> storages;
  for (const auto& row : strategyTable()) {
    if (!row.takesLock()) continue;
    storages.push_back(row.storage);
    EXPECT_EQ(row.name, row.storage->name);
    EXPECT_EQ(row.acrossProcesses, row.storage->acrossProcesses) << row.name;
    EXPECT_EQ(row.order, row.storage->order) << row.name;
    EXPECT_FALSE(row.labOnly || row.queues) << row.name;
  }
  ASSERT_EQ(storages.size(), lock::storageTable().size());
  for (std::size_t i = 0; i < storages.size(); ++i)
    EXPECT_EQ(storages[i], &lock::storageTable()[i]);
}

TEST(Strategies, OneIsRecommendedForOneProcessAndOneForSeveral) {
  for (const bool acrossProcesses : {false, true}) {
    const auto& row = recommendedStrategy(acrossProcesses);
    EXPECT_TRUE(row.isRecommended());
    EXPECT_EQ(row.acrossProcesses, acrossProcesses) << row.name;
  }
}

TEST(Strategies, MemoryTakesALockInThisProcessOnly) {
  const auto* memory = findStrategy("memory");
  ASSERT_NE(memory, nullptr);
  EXPECT_TRUE(memory->takesLock());
  EXPECT_FALSE(memory->labOnly);
  EXPECT_FALSE(memory->acrossProcesses);
}

TEST(Strategies, ConstraintsWorkInsideTheTransactionAndAcrossProcesses) {
  const auto* constraint = findStrategy("pg-constraint");
  ASSERT_NE(constraint, nullptr);
  EXPECT_FALSE(constraint->takesLock());
  EXPECT_EQ(constraint->inside, Guard::kConstraint);
  EXPECT_FALSE(constraint->labOnly);
  EXPECT_TRUE(constraint->acrossProcesses);
}

TEST(Strategies, RepeatableReadIsANegativeControlForTheLab) {
  const auto* repeatable = findStrategy("pg-repeatable-read");
  ASSERT_NE(repeatable, nullptr);
  EXPECT_EQ(repeatable->inside, Guard::kRepeatableRead);
  EXPECT_TRUE(repeatable->labOnly);
}

TEST(Strategies, WhatProtectsNothingIsForTheLabOnly) {
  for (const auto& row : strategyTable())
    EXPECT_TRUE(row.takesLock() || row.inside != Guard::kNone || row.queues || row.labOnly)
        << row.name;
}

TEST(Strategies, OnlyRowsThatTakeALockHaveAStorage) {
  IdleStorage storage;
  Strategies strategies;
  strategies.add("memory", storage);
  const auto memory = strategies.lockOf(*findStrategy("memory"));
  EXPECT_EQ(memory.name, "memory");
  EXPECT_EQ(memory.storage, &storage);
  const auto none = strategies.lockOf(*findStrategy("none"));
  EXPECT_EQ(none.name, "none");
  EXPECT_EQ(none.storage, nullptr);
}

TEST(Strategies, ARowWithoutItsStorageOrQueueIsNotAvailable) {
  const Strategies strategies;
  for (const auto& row : strategyTable())
    EXPECT_EQ(strategies.isAvailable(row), !row.takesLock() && !row.queues) << row.name;
  EXPECT_THROW(strategies.lockOf(*findStrategy("memory")), std::out_of_range);
  EXPECT_THROW(strategies.queueOf(*findStrategy("queue-local")), std::out_of_range);
}

TEST(Strategies, CloseEndsAllWaiting) {
  IdleStorage one;
  IdleStorage two;
  Strategies strategies;
  strategies.add("memory", one);
  strategies.add("redis-spin", two);
  strategies.close();
  EXPECT_EQ(one.closed, 1);
  EXPECT_EQ(two.closed, 1);
}

}  // namespace festa::test
