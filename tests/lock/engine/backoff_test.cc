#include "lock/engine/backoff.h"

#include <gtest/gtest.h>

namespace festa::test {

using lock::Backoff;
using lock::Millis;

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff backoff(Millis{4}, Millis{20});
  EXPECT_EQ(backoff.next(UINT32_MAX), Millis{4});
  EXPECT_EQ(backoff.next(UINT32_MAX), Millis{8});
  EXPECT_EQ(backoff.next(UINT32_MAX), Millis{16});
  EXPECT_EQ(backoff.next(UINT32_MAX), Millis{20});
  EXPECT_EQ(backoff.next(UINT32_MAX), Millis{20});
}

TEST(Backoff, NeverSpinsEvenWithTheSmallestDraw) {
  Backoff backoff(Millis{4}, Millis{64});
  for (int i = 0; i < 10; ++i) EXPECT_GE(backoff.next(0), Millis{2});
}

TEST(Backoff, DifferentDrawsGiveDifferentPauses) {
  Backoff one(Millis{64}, Millis{64});
  Backoff other(Millis{64}, Millis{64});
  EXPECT_LT(one.next(1U << 20), other.next(1U << 31));
}

}  // namespace festa::test
