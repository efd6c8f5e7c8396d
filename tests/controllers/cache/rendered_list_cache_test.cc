#include "controllers/cache/rendered_list_cache.h"

#include "tests/support/loops.h"
#include "tests/support/test_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace festa::test {

namespace {

using Key = RenderedListCache::Key;

constexpr std::size_t kMebi = 1024UL * 1024;

// Renders "1", "2", … Small lists: three of them fit.
class RenderedListCacheTest : public testing::Test {
 protected:
  int numberIn(RenderedListCache& lists, const Key& key) {
    const auto render = [this]() -> drogon::Task<RenderedListPtr> {
      co_return std::make_shared<const RenderedList>(
          RenderedList{"", std::to_string(++renderings) + std::string(padding, ' '), ""});
    };
    return std::stoi(runOn(loops.at(), [&] { return lists.get(key, render); })->body);
  }
  int number(const Key& key) { return numberIn(cache, key); }
  static Key hall(std::int64_t id, const std::string& section = "") {
    return {{ListKind::kSeats, id}, section};
  }

  static constexpr std::size_t kRoom = 4 * RenderedListCache::kListOverhead - 1;
  std::atomic<int> clock{1000};
  const TimeSource& time =
      timeBy([this] { return RenderedListCache::Time(std::chrono::milliseconds(clock.load())); });
  int renderings = 0;
  std::size_t padding = 0;
  Loops loops;
  RenderedListCache cache{kRoom, time};
};

}  // namespace

TEST_F(RenderedListCacheTest, AListIsATenthOfASecondOldAtMost) {
  EXPECT_EQ(number(hall(1)), 1);
  clock += 99;
  EXPECT_EQ(number(hall(1)), 1);
  clock += 1;
  EXPECT_EQ(number(hall(1)), 2);
}

TEST_F(RenderedListCacheTest, KindsOwnersAndPartsHaveListsOfTheirOwn) {
  EXPECT_EQ(number(hall(1)), 1);
  EXPECT_EQ(number(hall(1, "A")), 2);
  EXPECT_EQ(number(hall(2)), 3);
  EXPECT_EQ(number(hall(1, "A")), 2);
  EXPECT_EQ(number({{ListKind::kAnnouncements, 1}, ""}), 4);
}

TEST_F(RenderedListCacheTest, TheOldestListGoesWhenThereIsNoRoom) {
  for (int id = 1; id <= 4; ++id) {
    number(hall(id));
    clock += 1;
  }
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_LE(cache.bytes(), kRoom);
  EXPECT_EQ(number(hall(2)), 2) << "is still there";
  EXPECT_EQ(number(hall(1)), 5) << "had to be rendered again";
}

TEST_F(RenderedListCacheTest, ALargeListTakesTheRoomOfSeveral) {
  for (int id = 1; id <= 3; ++id) number(hall(id));
  padding = 2 * RenderedListCache::kListOverhead;
  number(hall(4));
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(number(hall(4)), 4);
}

TEST_F(RenderedListCacheTest, AListLargerThanAllRoomIsGivenButNotKeptAndDrivesNoneOut) {
  number(hall(1));
  padding = kRoom;
  EXPECT_EQ(number(hall(2)), 2);
  EXPECT_EQ(number(hall(2)), 3);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(number(hall(1)), 1);
}

TEST_F(RenderedListCacheTest, ByDefaultAtMost64MebibytesAreKept) {
  padding = kMebi;
  RenderedListCache large{RenderedListCache::kMaxBytes, time};
  std::size_t most = 0;
  for (int id = 1; id <= 100; ++id) {
    numberIn(large, hall(id));
    most = std::max(most, large.bytes());
  }
  EXPECT_LE(most, 64 * kMebi);
  EXPECT_GT(most, 62 * kMebi);
  EXPECT_EQ(large.size(), 63U);
}

TEST_F(RenderedListCacheTest, InvalidationForgetsAllPartsOfOneOwner) {
  number(hall(1));
  number(hall(1, "A"));
  number(hall(2));
  cache.invalidate({ListKind::kSeats, 1});
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(number(hall(1)), 4);
  EXPECT_EQ(number(hall(1, "A")), 5);
  EXPECT_EQ(number(hall(2)), 3);
  for (int id = 1; id <= 2; ++id) cache.invalidate({ListKind::kSeats, id});
  EXPECT_EQ(cache.bytes(), 0U);
}

}  // namespace festa::test
