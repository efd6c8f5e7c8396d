#include "controllers/seat_list_cache.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <atomic>

namespace festa::test {

namespace {

using std::chrono::milliseconds;

// Renders "1", "2", … and waits in each rendering while it is told to.
class SeatListCacheTest : public testing::Test {
 protected:
  SeatListCache::Settings settings() {
    SeatListCache::Settings s;
    s.maxLists = 3;
    s.now = [this] { return SeatListCache::Time(milliseconds(clock.load())); };
    return s;
  }
  drogon::Task<SeatListPtr> render() {
    const int number = ++renderings;
    while (paused) {
      auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
      co_await drogon::sleepCoro(loop, milliseconds(1));
    }
    if (fails) throw std::runtime_error("no list");
    co_return std::make_shared<const SeatList>(SeatList{"", std::to_string(number)});
  }
  std::future<SeatListPtr> ask(std::size_t loop, SeatListCache::Key key = {1, ""}) {
    return startOn(loops.at(loop), [this, key] {
      ++asked;
      return cache.get(key, [this] { return render(); });
    });
  }
  std::string body(SeatListCache::Key key = {1, ""}) { return finish(ask(0, key))->body; }
  // A later task of a loop runs after what was asked there before has begun to wait.
  void settle() {
    for (std::size_t i = 0; i < loops.size(); ++i)
      runOn(loops.at(i), []() -> drogon::Task<> { co_return; });
  }

  std::atomic<int> clock{1000};
  std::atomic<int> renderings{0};
  std::atomic<int> asked{0};
  std::atomic<bool> paused{false};
  std::atomic<bool> fails{false};
  Loops loops{3};
  SeatListCache cache{settings()};
};

}  // namespace

TEST_F(SeatListCacheTest, AListIsRenderedAgainOnlyWhenItIsOldEnough) {
  EXPECT_EQ(body(), "1");
  clock += 99;
  EXPECT_EQ(body(), "1");
  clock += 1;
  EXPECT_EQ(body(), "2");
  EXPECT_EQ(renderings, 2);
}

TEST_F(SeatListCacheTest, TheAgeCountsFromTheBeginningOfTheRendering) {
  paused = true;
  auto slow = ask(0);
  ASSERT_TRUE(eventually([&] { return renderings == 1; }));
  clock += 100;
  paused = false;
  EXPECT_EQ(finish(std::move(slow))->body, "1");
  EXPECT_EQ(body(), "2");
}

TEST_F(SeatListCacheTest, AllWhoAskDuringARenderingGetIts) {
  paused = true;
  std::vector<std::future<SeatListPtr>> answers;
  answers.push_back(ask(0));
  ASSERT_TRUE(eventually([&] { return renderings == 1; }));
  for (std::size_t i = 0; i < 30; ++i) answers.push_back(ask(i % loops.size()));
  settle();
  ASSERT_EQ(asked, 31);
  paused = false;
  for (auto& answer : answers) EXPECT_EQ(finish(std::move(answer))->body, "1");
  EXPECT_EQ(renderings, 1);
}

TEST_F(SeatListCacheTest, WhoWaitedResumesOnItsOwnLoop) {
  paused = true;
  auto first = ask(0);
  ASSERT_TRUE(eventually([&] { return renderings == 1; }));
  auto resumedOn = startOn(loops.at(1), [this]() -> drogon::Task<trantor::EventLoop*> {
    ++asked;
    const SeatListCache::Key key(1, "");
    const SeatListCache::Render again = [this] { return render(); };
    co_await cache.get(key, again);
    co_return trantor::EventLoop::getEventLoopOfCurrentThread();
  });
  settle();
  paused = false;
  EXPECT_EQ(finish(std::move(resumedOn)), loops.at(1));
  finish(std::move(first));
}

TEST_F(SeatListCacheTest, AFailureIsToldToAllWhoWaitedAndNotKept) {
  paused = true;
  fails = true;
  auto first = ask(0);
  ASSERT_TRUE(eventually([&] { return renderings == 1; }));
  auto second = ask(1);
  settle();
  paused = false;
  EXPECT_THROW(finish(std::move(first)), std::runtime_error);
  EXPECT_THROW(finish(std::move(second)), std::runtime_error);
  EXPECT_EQ(cache.size(), 0U);
  fails = false;
  EXPECT_EQ(body(), "2");
}

TEST_F(SeatListCacheTest, PerformancesAndLocationsHaveListsOfTheirOwn) {
  EXPECT_EQ(body({1, ""}), "1");
  EXPECT_EQ(body({1, "A"}), "2");
  EXPECT_EQ(body({2, "A"}), "3");
  EXPECT_EQ(body({1, "A"}), "2");
}

TEST_F(SeatListCacheTest, TheOldestListGoesWhenThereAreTooMany) {
  for (int id = 1; id <= 4; ++id) {
    body({id, ""});
    clock += 1;
  }
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(body({2, ""}), "2") << "is still there";
  EXPECT_EQ(body({1, ""}), "5") << "had to be rendered again";
}

TEST_F(SeatListCacheTest, StaleListsDoNotKeepTheirMemory) {
  body({1, ""});
  body({2, ""});
  clock += 100;
  body({3, ""});
  EXPECT_EQ(cache.size(), 1U);
}

}  // namespace festa::test
