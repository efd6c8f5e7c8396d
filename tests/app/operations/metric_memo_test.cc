#include "app/operations/metric_memo.h"

#include <gtest/gtest.h>

#include <deque>

namespace festa {

TEST(MetricMemo, AsksOncePerValues) {
  MetricMemo<int> memo;
  std::deque<int> made;
  const auto make = [&]() -> int& { return made.emplace_back(0); };
  ++memo.of({"GET", "/a"}, make);
  ++memo.of({"GET", "/a"}, make);
  ++memo.of({"GET", "/b"}, make);
  EXPECT_EQ(made, (std::deque<int>{2, 1}));
}

TEST(MetricMemo, KeepsValuesApart) {
  MetricMemo<int> memo;
  std::deque<int> made;
  const auto make = [&]() -> int& { return made.emplace_back(0); };
  memo.of({"a", "bc"}, make);
  memo.of({"ab", "c"}, make);
  memo.of({"abc"}, make);
  memo.of({"abc", ""}, make);
  EXPECT_EQ(made.size(), 4U);
}

}  // namespace festa
