#include "controllers/live/look_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace festa::test {

using namespace std::chrono_literals;

TEST(LookTurn, ThereIsOneLookAtATime) {
  LookTurn turn;
  EXPECT_TRUE(turn.begin());
  EXPECT_FALSE(turn.begin());
  turn.end();
  EXPECT_TRUE(turn.begin());
}

TEST(LookTurn, StopWaitsForTheLookThatIsUnderWayAndThereAreNoMore) {
  LookTurn turn;
  ASSERT_TRUE(turn.begin());
  std::atomic<bool> hasEnded{false};
  std::thread look([&] {
    while (!turn.isStopped()) std::this_thread::yield();
    hasEnded = true;
    turn.end();
  });
  turn.stop(10s);
  EXPECT_TRUE(hasEnded);
  EXPECT_FALSE(turn.begin());
  look.join();
}

TEST(LookTurn, StopGivesUpOnALookThatDoesNotEnd) {
  LookTurn turn;
  ASSERT_TRUE(turn.begin());
  turn.stop(10ms);
  EXPECT_TRUE(turn.isStopped());
}

}  // namespace festa::test
