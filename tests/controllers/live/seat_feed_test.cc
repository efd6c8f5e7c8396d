#include "controllers/live/seat_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using Say = WatcherPace::Say;
using Time = std::chrono::steady_clock::time_point;

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

TEST(HallOrderTest, TheHeaviestAndTheLongestUnreadTakeTurns) {
  const std::vector<HallTurn> halls{
      {1, 5, Time(9s)}, {2, 90, Time(8s)}, {3, 1, Time(2s)}, {4, 1, Time(3s)}, {5, 40, Time(7s)}};
  EXPECT_THAT(hallOrder(halls), testing::ElementsAre(2, 3, 5, 4, 1));
}

TEST(HallOrderTest, EachHallIsNamedOnce) {
  std::vector<HallTurn> halls;
  for (int id = 0; id < 100; ++id)
    halls.push_back({id, id * 7 % 13 / 13.0, Time(std::chrono::seconds(id))});
  auto order = hallOrder(halls);
  std::sort(order.begin(), order.end());
  ASSERT_EQ(order.size(), halls.size());
  for (int id = 0; id < 100; ++id) EXPECT_EQ(order[static_cast<std::size_t>(id)], id);
  EXPECT_TRUE(hallOrder({}).empty());
}

// Ten halls fit into a look, and there are a thousand.
TEST(HallOrderTest, AHeavyHallIsInEveryLookAndNoOtherWaitsForEver) {
  std::map<std::int64_t, HallTurn> halls;
  for (int id = 0; id < 1000; ++id) halls[id] = {id, 1, Time(0s)};
  halls[500].weight = 2;
  std::map<std::int64_t, int> looks;
  for (int look = 1; look <= 201; ++look) {
    std::vector<HallTurn> turns;
    for (const auto& [id, hall] : halls) turns.push_back(hall);
    const auto order = hallOrder(turns);
    for (std::size_t i = 0; i < 10; ++i) {
      ++looks[order[i]];
      halls[order[i]].lastLook = Time(std::chrono::seconds(look));
    }
  }
  EXPECT_EQ(looks[500], 201);
  for (const auto& [id, hall] : halls) EXPECT_GE(looks[id], 1) << id;
}

}  // namespace festa::test
