#include "lock/redis/until_confirmed.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <atomic>

namespace festa::test {

namespace {

using lock::Millis;
using lock::SteadyClock;

// Confirmed at the attempt with this number.
struct Attempts {
  drogon::Task<bool> attempt() { co_return ++made >= confirmedAt; }

  int confirmedAt;
  std::atomic<int> made{0};
};

void start(const Loops& loops, Attempts& attempts, Millis time) {
  loops.at()->queueInLoop([&attempts, time] {
    lock::untilConfirmed([&attempts] { return attempts.attempt(); }, SteadyClock::now() + time);
  });
}

}  // namespace

TEST(UntilConfirmed, AnAttemptThatIsConfirmedIsTheLast) {
  Attempts attempts{.confirmedAt = 2};
  const Loops loops;
  start(loops, attempts, Millis{10'000});
  EXPECT_TRUE(eventually([&] { return attempts.made == 2; }));
  EXPECT_FALSE(eventually([&] { return attempts.made > 2; }, Millis{250}));
}

TEST(UntilConfirmed, ThereIsOneAttemptHoweverLateAndNoneAfterTheTime) {
  Attempts attempts{.confirmedAt = 100};
  const Loops loops;
  start(loops, attempts, Millis{-1});
  EXPECT_TRUE(eventually([&] { return attempts.made == 1; }));
  EXPECT_FALSE(eventually([&] { return attempts.made > 1; }, Millis{250}));
}

}  // namespace festa::test
