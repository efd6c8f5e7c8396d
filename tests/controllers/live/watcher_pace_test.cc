#include "controllers/live/watcher_pace.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using Say = WatcherPace::Say;

class WatcherPaceTest : public testing::Test {
 protected:
  Say after(std::chrono::milliseconds time, bool isBehind, bool hasChanges) {
    now += time;
    return pace.next(now, isBehind, hasChanges);
  }

  WatcherPace::Time now;
  WatcherPace pace{now};
};

}  // namespace

TEST_F(WatcherPaceTest, TheFirstEventIsASnapshotWithOrWithoutChanges) {
  EXPECT_EQ(after(0ms, false, true), Say::kSnapshot);
  WatcherPace other{now};
  EXPECT_EQ(other.next(now, false, false), Say::kSnapshot);
  EXPECT_EQ(after(250ms, false, true), Say::kChanges);
  EXPECT_EQ(after(250ms, false, false), Say::kNothing);
}

TEST_F(WatcherPaceTest, AfterFifteenSilentSecondsACommentIsSent) {
  after(0ms, false, false);
  EXPECT_EQ(after(14'999ms, false, false), Say::kNothing);
  EXPECT_EQ(after(1ms, false, false), Say::kComment);
  EXPECT_EQ(after(14'000ms, false, false), Say::kNothing);
  EXPECT_EQ(after(900ms, false, true), Say::kChanges);
  EXPECT_EQ(after(14'000ms, false, false), Say::kNothing) << "changes end the silence, too";
}

TEST_F(WatcherPaceTest, AReaderThatIsBehindGetsNothingAndLaterASnapshot) {
  after(0ms, false, false);
  for (int i = 0; i < 39; ++i) EXPECT_EQ(after(250ms, true, true), Say::kNothing);
  EXPECT_EQ(after(250ms, false, true), Say::kSnapshot);
  EXPECT_EQ(after(250ms, false, true), Say::kChanges);
}

TEST_F(WatcherPaceTest, AReaderThatStaysBehindIsEnded) {
  after(0ms, false, false);
  EXPECT_EQ(after(0ms, true, false), Say::kNothing);
  EXPECT_EQ(after(ReaderPatience::kLongest - 1ms, true, false), Say::kNothing);
  EXPECT_EQ(after(1ms, true, false), Say::kEnd);
}

TEST_F(WatcherPaceTest, AReaderThatCatchesUpHasTheWholeTimeAgain) {
  EXPECT_EQ(after(0ms, true, false), Say::kNothing);
  after(ReaderPatience::kLongest - 1ms, false, false);
  EXPECT_EQ(after(2ms, true, false), Say::kNothing);
}

}  // namespace festa::test
