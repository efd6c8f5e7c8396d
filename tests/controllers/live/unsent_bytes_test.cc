#include "controllers/live/unsent_bytes.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(UnsentBytes, AreWhatWasHandedOverAndNotSent) {
  UnsentBytes bytes(500);
  EXPECT_EQ(bytes.unsent(500), 0U);
  bytes.handOver(100, 500);
  bytes.handOver(20, 500);
  EXPECT_EQ(bytes.unsent(500), 120U);
  EXPECT_EQ(bytes.unsent(501), 119U);
  EXPECT_EQ(bytes.unsent(620), 0U);
  EXPECT_EQ(bytes.unsent(640), 0U) << "with the frames of the chunks";
}

TEST(UnsentBytes, FramesOfManyEventsDoNotAddUp) {
  UnsentBytes bytes(0);
  std::size_t sent = 0;
  for (int i = 0; i < 10'000; ++i) {
    bytes.handOver(100, sent);
    sent += 107;
  }
  bytes.handOver(1000, sent);
  EXPECT_EQ(bytes.unsent(sent), 1000U);
}

}  // namespace festa::test
