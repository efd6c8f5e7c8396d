#include "controllers/live/look_budget.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

constexpr LookBudget::Time kStart{1000s};
constexpr LookBudget::Limits kLimits{.reads = 3, .bytes = 1000, .time = 100ms};

}  // namespace

TEST(LookBudgetTest, IsSpentByReads) {
  LookBudget budget(kLimits, kStart);
  EXPECT_FALSE(budget.isSpent(kStart));
  for (int i = 0; i < 2; ++i) budget.read(1);
  EXPECT_FALSE(budget.isSpent(kStart));
  budget.read(0);
  EXPECT_TRUE(budget.isSpent(kStart));
}

TEST(LookBudgetTest, IsSpentByBytes) {
  LookBudget budget(kLimits, kStart);
  budget.read(999);
  EXPECT_FALSE(budget.isSpent(kStart));
  budget.read(1);
  EXPECT_TRUE(budget.isSpent(kStart));
}

TEST(LookBudgetTest, IsSpentByTime) {
  const LookBudget budget(kLimits, kStart);
  EXPECT_FALSE(budget.isSpent(kStart + 99ms));
  EXPECT_TRUE(budget.isSpent(kStart + 100ms));
}

}  // namespace festa::test
