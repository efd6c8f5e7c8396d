#include "controllers/live/readers.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

constexpr ReaderPatience::Time kStart{1000s};

}  // namespace

TEST(ReaderPatienceTest, LastsWhileTheReaderKeepsUp) {
  ReaderPatience patience;
  for (auto now = kStart; now < kStart + 60s; now += 1s) EXPECT_TRUE(patience.lasts(now, false));
}

TEST(ReaderPatienceTest, EndsWhenTheReaderHasBeenBehindAllTheTime) {
  ReaderPatience patience;
  EXPECT_TRUE(patience.lasts(kStart, true));
  EXPECT_TRUE(patience.lasts(kStart + 9s, true));
  EXPECT_FALSE(patience.lasts(kStart + 10s, true));
}

TEST(ReaderPatienceTest, BeginsAnewWhenTheReaderHasCaughtUp) {
  ReaderPatience patience;
  EXPECT_TRUE(patience.lasts(kStart, true));
  EXPECT_TRUE(patience.lasts(kStart + 9s, false));
  EXPECT_TRUE(patience.lasts(kStart + 10s, true));
  EXPECT_TRUE(patience.lasts(kStart + 19s, true));
  EXPECT_FALSE(patience.lasts(kStart + 20s, true));
}

}  // namespace festa::test
