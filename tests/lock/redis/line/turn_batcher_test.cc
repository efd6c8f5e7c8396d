#include "lock/redis/line/turn_batcher.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

class TurnBatcherTest : public testing::Test, protected lock::TurnBatcher<int>::Sender {
 protected:
  using Turns = std::vector<std::vector<int>>;

  void sendTurn(std::vector<int> items) override {
    EXPECT_TRUE(loops_.at(0)->isInLoopThread() || loops_.at(1)->isInLoopThread());
    const std::lock_guard guard(mutex_);
    sent_.push_back(std::move(items));
  }
  // Says them one by one, each in an entry of its own of the loop's queue.
  void say(trantor::EventLoop* loop, int first, int last) {
    for (int i = first; i <= last; ++i) loop->queueInLoop([this, i] { batcher_.say(i); });
  }
  // Each item brings the next one: the loop's queue is never empty.
  void talk(int i) {
    batcher_.say(i);
    if (i < 100) loops_.at(0)->queueInLoop([this, i] { talk(i + 1); });
  }
  Turns sentAfter(std::size_t items) {
    const auto count = [&] {
      const std::lock_guard guard(mutex_);
      std::size_t sum = 0;
      for (const auto& turn : sent_) sum += turn.size();
      return sum;
    };
    EXPECT_TRUE(eventually([&] { return count() == items; }));
    const std::lock_guard guard(mutex_);
    return sent_;
  }

  Loops loops_{2};
  std::mutex mutex_;
  Turns sent_;
  lock::TurnBatcher<int> batcher_{*this, 8};
};

}  // namespace

TEST_F(TurnBatcherTest, WhatIsSaidInOneTurnGoesOutTogetherInOrder) {
  // All are in the queue before the first one runs.
  loops_.at(0)->queueInLoop([this] { say(loops_.at(0), 1, 5); });
  EXPECT_EQ(sentAfter(5), (Turns{{1, 2, 3, 4, 5}}));
}

TEST_F(TurnBatcherTest, WhatIsSaidLaterIsAnotherTurn) {
  say(loops_.at(0), 1, 1);
  sentAfter(1);
  say(loops_.at(0), 2, 2);
  EXPECT_EQ(sentAfter(2), (Turns{{1}, {2}}));
}

TEST_F(TurnBatcherTest, LoopsDoNotWaitForEachOther) {
  say(loops_.at(0), 1, 1);
  say(loops_.at(1), 2, 2);
  EXPECT_EQ(sentAfter(2).size(), 2U);
}

TEST_F(TurnBatcherTest, WhoKeepsSayingDoesNotKeepTheOthersWaiting) {
  loops_.at(0)->queueInLoop([this] { talk(1); });
  EXPECT_GT(sentAfter(100).size(), 1U);
}

}  // namespace festa::test
