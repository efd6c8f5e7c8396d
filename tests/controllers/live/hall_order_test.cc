#include "controllers/live/hall_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

}  // namespace

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
