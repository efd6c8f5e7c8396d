#include "app/lab/race/race_watcher.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

struct Seen {
  std::string received;
  bool isGone = false;
  bool isBehind = false;
};

class SinkOf : public EventSink {
 public:
  explicit SinkOf(Seen& seen) : seen_(seen) {}
  bool send(const std::string& events) override {
    seen_.received += events;
    return !seen_.isGone;
  }
  bool isConnected() const override { return !seen_.isGone; }
  bool isBehind() const override { return seen_.isBehind; }
  bool takesPages() const override { return !seen_.isBehind; }
  double shareOfAddress() const override { return 1; }

 private:
  Seen& seen_;
};

class RaceWatcherTest : public testing::Test {
 protected:
  RaceWatcherTest() { race->begin(0); }

  const RaceWish wish{.people = 2, .strategies = {"none"}};
  const std::shared_ptr<RaceRecord> race = std::make_shared<RaceRecord>(1, wish, planOf(wish));
  Seen seen;
  RaceWatcher watcher{race, std::make_unique<SinkOf>(seen)};
  const ReaderPatience::Time start{1000s};
};

}  // namespace

TEST_F(RaceWatcherTest, IsToldEverythingAndEndsWithTheRace) {
  EXPECT_TRUE(watcher.goesOn(start));
  const auto before = seen.received.size();
  EXPECT_GT(before, 0U);
  race->finish("");
  EXPECT_FALSE(watcher.goesOn(start + 1s));
  EXPECT_GT(seen.received.size(), before);
}

TEST_F(RaceWatcherTest, ThatIsBehindIsToldTheRestLater) {
  seen.isBehind = true;
  EXPECT_TRUE(watcher.goesOn(start));
  race->finish("");
  EXPECT_TRUE(watcher.goesOn(start + 1s));
  EXPECT_EQ(seen.received, "");
  seen.isBehind = false;
  EXPECT_FALSE(watcher.goesOn(start + 2s));
  std::string all;
  for (const auto& event : race->eventsSince(0)) all += event;
  EXPECT_EQ(seen.received, all);
}

TEST_F(RaceWatcherTest, ThatDoesNotReadDoesNotKeepItsPlace) {
  seen.isBehind = true;
  EXPECT_TRUE(watcher.goesOn(start));
  EXPECT_TRUE(watcher.goesOn(start + ReaderPatience::kLongest - 1ms));
  EXPECT_FALSE(watcher.goesOn(start + ReaderPatience::kLongest));
}

TEST_F(RaceWatcherTest, ThatHasGoneIsForgotten) {
  seen.isGone = true;
  EXPECT_FALSE(watcher.goesOn(start));
}

}  // namespace festa::test
