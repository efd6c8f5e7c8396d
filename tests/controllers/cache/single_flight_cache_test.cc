#include "controllers/cache/single_flight_cache.h"

#include "tests/support/loops.h"
#include "tests/support/test_time.h"

#include <gtest/gtest.h>

#include <atomic>

namespace festa::test {

namespace {

using std::chrono::milliseconds;

using Cache = SingleFlightCache<std::string, int>;

constexpr int kAll = 1'000'000;

// Makes 1, 2, … and waits in a making until it is released. Three values fit.
class SingleFlightCacheTest : public testing::Test {
 protected:
  drogon::Task<int> make() {
    const int number = ++makings;
    while (number > released) {
      auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
      co_await drogon::sleepCoro(loop, milliseconds(1));
    }
    if (number <= failing) throw std::runtime_error("no value");
    co_return number;
  }
  std::future<int> ask(std::size_t loop, const std::string& key = "a") {
    return startOn(loops.at(loop), [this, key] {
      ++asked;
      return cache.get(key, [this] { return make(); });
    });
  }
  int number(const std::string& key = "a") { return finish(ask(0, key)); }
  void invalidate(const std::string& first) {
    cache.invalidate(first, [&](const std::string& key) { return key.starts_with(first); });
  }
  bool isMaking(int which) {
    return eventually([&] { return makings == which; });
  }
  // A later task of a loop runs after what was asked there before has begun to wait.
  void settle() {
    for (std::size_t i = 0; i < loops.size(); ++i)
      runOn(loops.at(i), []() -> drogon::Task<> { co_return; });
  }

  std::atomic<int> clock{1000};
  const TimeSource& time = timeBy([this] { return Cache::Time(milliseconds(clock.load())); });
  std::atomic<int> makings{0};
  std::atomic<int> asked{0};
  std::atomic<int> released{kAll};  // makings with a higher number wait
  std::atomic<int> failing{0};      // makings up to this number fail
  Loops loops{3};
  Cache cache{{.maxAge = milliseconds(100), .room = 3}, time};
};

}  // namespace

TEST_F(SingleFlightCacheTest, AValueIsMadeAgainOnlyWhenItIsOldEnough) {
  EXPECT_EQ(number(), 1);
  clock += 99;
  EXPECT_EQ(number(), 1);
  clock += 1;
  EXPECT_EQ(number(), 2);
  EXPECT_EQ(makings, 2);
}

TEST_F(SingleFlightCacheTest, TheAgeCountsFromTheBeginningOfTheMaking) {
  released = 0;
  auto slow = ask(0);
  ASSERT_TRUE(isMaking(1));
  clock += 100;
  released = kAll;
  EXPECT_EQ(finish(std::move(slow)), 1);
  EXPECT_EQ(number(), 2);
}

TEST_F(SingleFlightCacheTest, CallsDuringAMakingShareItsResult) {
  released = 0;
  std::vector<std::future<int>> answers;
  answers.push_back(ask(0));
  ASSERT_TRUE(isMaking(1));
  for (std::size_t i = 0; i < 30; ++i) answers.push_back(ask(i % loops.size()));
  settle();
  ASSERT_EQ(asked, 31);
  released = kAll;
  for (auto& answer : answers) EXPECT_EQ(finish(std::move(answer)), 1);
  EXPECT_EQ(makings, 1);
}

TEST_F(SingleFlightCacheTest, AWaitingCallResumesOnItsOwnLoop) {
  released = 0;
  auto first = ask(0);
  ASSERT_TRUE(isMaking(1));
  auto resumedOn = startOn(loops.at(1), [this]() -> drogon::Task<trantor::EventLoop*> {
    ++asked;
    const auto again = [this] { return make(); };
    co_await cache.get("a", again);
    co_return trantor::EventLoop::getEventLoopOfCurrentThread();
  });
  settle();
  released = kAll;
  EXPECT_EQ(finish(std::move(resumedOn)), loops.at(1));
  finish(std::move(first));
}

TEST_F(SingleFlightCacheTest, AFailureIsThrownInEveryWaitingCallAndNotKept) {
  released = 0;
  failing = 1;
  auto first = ask(0);
  ASSERT_TRUE(isMaking(1));
  auto second = ask(1);
  settle();
  released = kAll;
  EXPECT_THROW(finish(std::move(first)), std::runtime_error);
  EXPECT_THROW(finish(std::move(second)), std::runtime_error);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(number(), 2);
}

TEST_F(SingleFlightCacheTest, KeysHaveValuesOfTheirOwn) {
  EXPECT_EQ(number("a"), 1);
  EXPECT_EQ(number("b"), 2);
  EXPECT_EQ(number("a"), 1);
}

TEST_F(SingleFlightCacheTest, TheOldestValueGoesWhenThereIsNoRoom) {
  for (const auto* const key : {"a", "b", "c", "d"}) {
    number(key);
    clock += 1;
  }
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(cache.used(), 3U);
  EXPECT_EQ(number("b"), 2) << "is still there";
  EXPECT_EQ(number("a"), 5) << "had to be made again";
}

TEST_F(SingleFlightCacheTest, StaleValuesDoNotKeepTheirMemory) {
  number("a");
  number("b");
  clock += 100;
  number("c");
  EXPECT_EQ(cache.size(), 1U);
}

TEST_F(SingleFlightCacheTest, InvalidationForgetsTheKeysThatBelongTogether) {
  for (const auto* const key : {"a", "a1", "b"}) number(key);
  invalidate("a");
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(number("a"), 4);
  EXPECT_EQ(number("a1"), 5);
  EXPECT_EQ(number("b"), 3);
}

TEST_F(SingleFlightCacheTest, CallsAfterAnInvalidationDoNotGetAnEarlierValue) {
  released = 0;
  std::vector<std::future<int>> before;
  before.push_back(ask(0));
  ASSERT_TRUE(isMaking(1));
  before.push_back(ask(1));
  settle();
  invalidate("a");
  std::vector<std::future<int>> after;
  for (std::size_t i = 0; i < 6; ++i) after.push_back(ask(i % loops.size()));
  settle();
  invalidate("a");
  after.push_back(ask(2));
  settle();
  EXPECT_EQ(makings, 1) << "one at a time";
  released = kAll;
  for (auto& answer : before) EXPECT_EQ(finish(std::move(answer)), 1);
  for (auto& answer : after) EXPECT_EQ(finish(std::move(answer)), 2);
  EXPECT_EQ(number(), 2) << "this one is kept";
}

TEST_F(SingleFlightCacheTest, AnInvalidatedMakingIsNotKeptWithoutWaitingCalls) {
  released = 0;
  auto first = ask(0);
  ASSERT_TRUE(isMaking(1));
  invalidate("a");
  released = kAll;
  EXPECT_EQ(finish(std::move(first)), 1);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(number(), 2);
}

TEST_F(SingleFlightCacheTest, CallsAfterAnInvalidationDoNotGetAnEarlierFailure) {
  released = 0;
  failing = 1;
  auto first = ask(0);
  ASSERT_TRUE(isMaking(1));
  invalidate("a");
  auto second = ask(1);
  settle();
  released = kAll;
  EXPECT_THROW(finish(std::move(first)), std::runtime_error);
  EXPECT_EQ(finish(std::move(second)), 2);
}

TEST_F(SingleFlightCacheTest, AnInvalidationDuringTheSecondMakingNeedsAThird) {
  released = 0;
  auto first = ask(0);
  ASSERT_TRUE(isMaking(1));
  invalidate("a");
  auto second = ask(1);
  settle();
  released = 1;
  ASSERT_TRUE(isMaking(2));
  invalidate("a");
  auto third = ask(2);
  settle();
  released = kAll;
  EXPECT_EQ(finish(std::move(first)), 1);
  EXPECT_EQ(finish(std::move(second)), 2);
  EXPECT_EQ(finish(std::move(third)), 3);
}

namespace {

// One loop writes a number and then asks for the value, which is that number; the others ask all
// the time. No value becomes stale by its age.
class OwnWritesTest : public SingleFlightCacheTest {
 protected:
  drogon::Task<int> readStored() {
    const int snapshot = stored;
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    co_await drogon::sleepCoro(loop, milliseconds(1));
    co_return snapshot;
  }
  drogon::Task<int> shown() {
    const auto again = [this] { return readStored(); };
    return cache.get("a", again);
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

TEST_F(OwnWritesTest, EveryWriteShowsRightAfterItsInvalidation) {
  EXPECT_EQ(missedWrites([this] { invalidate("a"); }), 0);
}

TEST_F(OwnWritesTest, ControlWithoutInvalidationWritesDoNotShow) {
  EXPECT_GT(missedWrites([] {}), 0);
}

}  // namespace festa::test
