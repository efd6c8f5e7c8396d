#include "lock/engine/breaker.h"

#include <gtest/gtest.h>

namespace festa::test {

using lock::Breaker;
using lock::Millis;
using lock::SteadyTime;

TEST(Breaker, AdmitsWhileFailuresAreFewerThanTheThreshold) {
  Breaker breaker(3, Millis{100});
  const SteadyTime now;
  breaker.failed(now);
  breaker.failed(now);
  EXPECT_TRUE(breaker.mayTry(now));
  EXPECT_FALSE(breaker.isOpen());
}

TEST(Breaker, OpensAfterFailuresInARowAndRefusesAtOnce) {
  Breaker breaker(3, Millis{100});
  const SteadyTime now;
  for (int i = 0; i < 3; ++i) breaker.failed(now);
  EXPECT_TRUE(breaker.isOpen());
  EXPECT_FALSE(breaker.mayTry(now));
  EXPECT_FALSE(breaker.mayTry(now + Millis{99}));
}

TEST(Breaker, ASuccessInBetweenStartsTheCountAnew) {
  Breaker breaker(2, Millis{100});
  const SteadyTime now;
  breaker.failed(now);
  breaker.succeeded();
  breaker.failed(now);
  EXPECT_TRUE(breaker.mayTry(now));
}

TEST(Breaker, WhileOpenOneProbePerPauseGoesThrough) {
  Breaker breaker(1, Millis{100});
  const SteadyTime now;
  breaker.failed(now);
  EXPECT_TRUE(breaker.mayTry(now + Millis{100}));
  EXPECT_FALSE(breaker.mayTry(now + Millis{100})) << "a second probe";
  EXPECT_TRUE(breaker.mayTry(now + Millis{200}));
}

TEST(Breaker, AProbeThatSucceedsClosesIt) {
  Breaker breaker(1, Millis{100});
  const SteadyTime now;
  breaker.failed(now);
  ASSERT_TRUE(breaker.mayTry(now + Millis{100}));
  breaker.succeeded();
  EXPECT_FALSE(breaker.isOpen());
  EXPECT_TRUE(breaker.mayTry(now + Millis{101}));
}

}  // namespace festa::test
