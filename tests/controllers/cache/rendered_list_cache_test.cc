#include "controllers/cache/rendered_list_cache.h"

#include "tests/support/loops.h"
#include "tests/support/test_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace festa::test {

namespace {

using std::chrono::milliseconds;
using Key = RenderedListCache::Key;

constexpr std::size_t kMebi = 1024UL * 1024;
const ListOwner kHall{ListKind::kSeats, 1};

constexpr int kAll = 1'000'000;

// Renders "1", "2", … and waits in a rendering until it is released. Small lists: three of them
// fit.
class RenderedListCacheTest : public testing::Test {
 protected:
  RenderedListCache::Settings settings(std::size_t maxBytes) {
    RenderedListCache::Settings s;
    s.maxBytes = maxBytes;
    return s;
  }
  drogon::Task<RenderedListPtr> render() {
    const int number = ++renderings;
    while (number > released) {
      auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
      co_await drogon::sleepCoro(loop, milliseconds(1));
    }
    if (number <= failing) throw std::runtime_error("no list");
    co_return std::make_shared<const RenderedList>(
        RenderedList{"", std::to_string(number) + std::string(padding, ' '), ""});
  }
  std::future<RenderedListPtr> ask(std::size_t loop, const Key& key = {kHall, ""}) {
    return startOn(loops.at(loop), [this, key] {
      ++asked;
      return cache.get(key, [this] { return render(); });
    });
  }
  int number(const Key& key = {kHall, ""}) { return numberOf(ask(0, key)); }
  static int numberOf(std::future<RenderedListPtr> list) {
    return std::stoi(finish(std::move(list))->body);
  }
  static Key hall(std::int64_t id, const std::string& section = "") {
    return {{ListKind::kSeats, id}, section};
  }
  bool isRendering(int which) {
    return eventually([&] { return renderings == which; });
  }
  // A later task of a loop runs after what was asked there before has begun to wait.
  void settle() {
    for (std::size_t i = 0; i < loops.size(); ++i)
      runOn(loops.at(i), []() -> drogon::Task<> { co_return; });
  }

  static constexpr std::size_t kRoom = 4 * RenderedListCache::kListOverhead - 1;
  std::atomic<int> clock{1000};
  const TimeSource& time =
      timeBy([this] { return RenderedListCache::Time(milliseconds(clock.load())); });
  std::atomic<int> renderings{0};
  std::atomic<int> asked{0};
  std::atomic<int> released{kAll};  // renderings with a higher number wait
  std::atomic<int> failing{0};      // renderings up to this number fail
  std::atomic<std::size_t> padding{0};
  Loops loops{3};
  RenderedListCache cache{settings(kRoom), time};
};

}  // namespace

TEST_F(RenderedListCacheTest, AListIsRenderedAgainOnlyWhenItIsOldEnough) {
  EXPECT_EQ(number(), 1);
  clock += 99;
  EXPECT_EQ(number(), 1);
  clock += 1;
  EXPECT_EQ(number(), 2);
  EXPECT_EQ(renderings, 2);
}

TEST_F(RenderedListCacheTest, TheAgeCountsFromTheBeginningOfTheRendering) {
  released = 0;
  auto slow = ask(0);
  ASSERT_TRUE(isRendering(1));
  clock += 100;
  released = kAll;
  EXPECT_EQ(numberOf(std::move(slow)), 1);
  EXPECT_EQ(number(), 2);
}

TEST_F(RenderedListCacheTest, CallsDuringARenderingShareItsResult) {
  released = 0;
  std::vector<std::future<RenderedListPtr>> answers;
  answers.push_back(ask(0));
  ASSERT_TRUE(isRendering(1));
  for (std::size_t i = 0; i < 30; ++i) answers.push_back(ask(i % loops.size()));
  settle();
  ASSERT_EQ(asked, 31);
  released = kAll;
  for (auto& answer : answers) EXPECT_EQ(numberOf(std::move(answer)), 1);
  EXPECT_EQ(renderings, 1);
}

TEST_F(RenderedListCacheTest, AWaitingCallResumesOnItsOwnLoop) {
  released = 0;
  auto first = ask(0);
  ASSERT_TRUE(isRendering(1));
  auto resumedOn = startOn(loops.at(1), [this]() -> drogon::Task<trantor::EventLoop*> {
    ++asked;
    const Key key{kHall, ""};
    const auto again = [this] { return render(); };
    co_await cache.get(key, again);
    co_return trantor::EventLoop::getEventLoopOfCurrentThread();
  });
  settle();
  released = kAll;
  EXPECT_EQ(finish(std::move(resumedOn)), loops.at(1));
  finish(std::move(first));
}

TEST_F(RenderedListCacheTest, AFailureIsThrownInEveryWaitingCallAndNotKept) {
  released = 0;
  failing = 1;
  auto first = ask(0);
  ASSERT_TRUE(isRendering(1));
  auto second = ask(1);
  settle();
  released = kAll;
  EXPECT_THROW(finish(std::move(first)), std::runtime_error);
  EXPECT_THROW(finish(std::move(second)), std::runtime_error);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(number(), 2);
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
  RenderedListCache large{settings(RenderedListCache::Settings().maxBytes), time};
  std::size_t most = 0;
  for (int id = 1; id <= 100; ++id) {
    runOn(loops.at(), [&, id] { return large.get(hall(id), [this] { return render(); }); });
    most = std::max(most, large.bytes());
  }
  EXPECT_LE(most, 64 * kMebi);
  EXPECT_GT(most, 62 * kMebi);
  EXPECT_EQ(large.size(), 63U);
}

TEST_F(RenderedListCacheTest, StaleListsDoNotKeepTheirMemory) {
  number(hall(1));
  number(hall(2));
  clock += 100;
  number(hall(3));
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(RenderedListCacheTest, InvalidationForgetsAllPartsOfOneOwner) {
  number(hall(1));
  number(hall(1, "A"));
  number(hall(2));
  cache.invalidate(kHall);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(number(hall(1)), 4);
  EXPECT_EQ(number(hall(1, "A")), 5);
  EXPECT_EQ(number(hall(2)), 3);
  for (int id = 1; id <= 2; ++id) cache.invalidate({ListKind::kSeats, id});
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST_F(RenderedListCacheTest, CallsAfterAnInvalidationDoNotGetAnEarlierRendering) {
  released = 0;
  std::vector<std::future<RenderedListPtr>> before;
  before.push_back(ask(0));
  ASSERT_TRUE(isRendering(1));
  before.push_back(ask(1));
  settle();
  cache.invalidate(kHall);
  std::vector<std::future<RenderedListPtr>> after;
  for (std::size_t i = 0; i < 6; ++i) after.push_back(ask(i % loops.size()));
  settle();
  cache.invalidate(kHall);
  after.push_back(ask(2));
  settle();
  EXPECT_EQ(renderings, 1) << "one at a time";
  released = kAll;
  for (auto& answer : before) EXPECT_EQ(numberOf(std::move(answer)), 1);
  for (auto& answer : after) EXPECT_EQ(numberOf(std::move(answer)), 2);
  EXPECT_EQ(number(), 2) << "this one is kept";
}

TEST_F(RenderedListCacheTest, AnInvalidatedRenderingIsNotKeptWithoutWaitingCalls) {
  released = 0;
  auto first = ask(0);
  ASSERT_TRUE(isRendering(1));
  cache.invalidate(kHall);
  released = kAll;
  EXPECT_EQ(numberOf(std::move(first)), 1);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(number(), 2);
}

TEST_F(RenderedListCacheTest, CallsAfterAnInvalidationDoNotGetAnEarlierFailure) {
  released = 0;
  failing = 1;
  auto first = ask(0);
  ASSERT_TRUE(isRendering(1));
  cache.invalidate(kHall);
  auto second = ask(1);
  settle();
  released = kAll;
  EXPECT_THROW(finish(std::move(first)), std::runtime_error);
  EXPECT_EQ(numberOf(std::move(second)), 2);
}

TEST_F(RenderedListCacheTest, AnInvalidationDuringTheSecondRenderingNeedsAThird) {
  released = 0;
  auto first = ask(0);
  ASSERT_TRUE(isRendering(1));
  cache.invalidate(kHall);
  auto second = ask(1);
  settle();
  released = 1;
  ASSERT_TRUE(isRendering(2));
  cache.invalidate(kHall);
  auto third = ask(2);
  settle();
  released = kAll;
  EXPECT_EQ(numberOf(std::move(first)), 1);
  EXPECT_EQ(numberOf(std::move(second)), 2);
  EXPECT_EQ(numberOf(std::move(third)), 3);
}

namespace {

// One loop writes a number and then asks for the list, which shows the number; the others ask all
// the time. No list becomes stale by its age.
class OwnWritesTest : public RenderedListCacheTest {
 protected:
  drogon::Task<RenderedListPtr> renderStored() {
    const int snapshot = stored;
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    co_await drogon::sleepCoro(loop, milliseconds(1));
    co_return std::make_shared<const RenderedList>(RenderedList{"", std::to_string(snapshot), ""});
  }
  drogon::Task<int> shown() {
    const Key key{kHall, ""};
    const auto again = [this] { return renderStored(); };
    const auto list = co_await cache.get(key, again);
    co_return std::stoi(list->body);
  }
  drogon::Task<> readAllTheTime() {
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    while (!isOver) {
      co_await shown();
      co_await drogon::sleepCoro(loop, std::chrono::microseconds(200));
    }
  }
  drogon::Task<int> writeAndLook(std::function<void()> afterWrite) {
    int missed = 0;
    for (int round = 1; round <= kRounds; ++round) {
      stored = round;
      afterWrite();
      const int seen = co_await shown();
      if (seen != round) ++missed;
    }
    co_return missed;
  }
  // How many of the writes did not show right after.
  int missedWrites(const std::function<void()>& afterWrite) {
    std::vector<std::future<void>> readers;
    for (std::size_t i = 0; i < 8; ++i)
      readers.push_back(startOn(loops.at(1 + i % 2), [this] { return readAllTheTime(); }));
    const int missed = runOn(loops.at(0), [&] { return writeAndLook(afterWrite); });
    isOver = true;
    for (auto& reader : readers) finish(std::move(reader));
    return missed;
  }

  static constexpr int kRounds = 500;
  std::atomic<int> stored{0};
  std::atomic<bool> isOver{false};
};

}  // namespace

TEST_F(OwnWritesTest, EveryWriteShowsInTheListRightAfterItsInvalidation) {
  EXPECT_EQ(missedWrites([this] { cache.invalidate(kHall); }), 0);
}

TEST_F(OwnWritesTest, ControlWithoutInvalidationWritesDoNotShow) {
  EXPECT_GT(missedWrites([] {}), 0);
}

}  // namespace festa::test
