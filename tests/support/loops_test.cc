// The event loops of tests: quiet when their test is over.
#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>

namespace festa::test {

TEST(Loops, TimersEndWithTheirLoops) {
  std::optional<Loops> loops(std::in_place, 2);
  std::atomic<int> ticks{0};
  for (std::size_t i = 0; i < 2; ++i) loops->at(i)->runEvery(0.001, [&] { ++ticks; });
  ASSERT_TRUE(eventually([&] { return ticks > 2; }));
  loops.reset();
  const int atTheEnd = ticks;
  EXPECT_FALSE(eventually([&] { return ticks > atTheEnd; }, std::chrono::milliseconds{50}));
}

TEST(Loops, ALateReplyFindsItsLoopAndIsNotExecuted) {
  std::optional<Loops> loops(std::in_place);
  auto* const loop = loops->at();
  loops.reset();
  std::atomic<bool> isExecuted{false};
  loop->queueInLoop([&] { isExecuted = true; });
  EXPECT_FALSE(eventually([&] { return isExecuted.load(); }, std::chrono::milliseconds{50}));
}

TEST(Loops, EndedAtOnceTheyHaveRun) {
  for (int i = 0; i < 20; ++i) {
    const Loops loops(2);
  }
}

}  // namespace festa::test
