#include "controllers/unsent_bytes.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(UnsentBytes, AReaderIsBehindWhenTooMuchIsNotSent) {
  UnsentBytes unsent(500);
  unsent.handOver(UnsentBytes::kMost, 500);
  EXPECT_FALSE(unsent.isBehind(500));
  unsent.handOver(1, 500);
  EXPECT_TRUE(unsent.isBehind(500));
  EXPECT_FALSE(unsent.isBehind(501));
}

TEST(UnsentBytes, FramesOfManyEventsDoNotAddUp) {
  UnsentBytes unsent(0);
  std::size_t sent = 0;
  for (int i = 0; i < 10'000; ++i) {
    unsent.handOver(100, sent);
    sent += 107;
  }
  unsent.handOver(UnsentBytes::kMost + 1, sent);
  EXPECT_TRUE(unsent.isBehind(sent));
}

}  // namespace festa::test
