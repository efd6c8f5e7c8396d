#include "app/lab/lab_pauses.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <list>
#include <thread>

namespace festa::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class LabPausesTest : public testing::Test {
 protected:
  // The loop on which it went on.
  std::future<trantor::EventLoop*> pause(std::size_t loop, milliseconds time) {
    return startOn(loops_.at(loop), [this, time]() -> drogon::Task<trantor::EventLoop*> {
      co_await pauses_.pause(time);
      co_return trantor::EventLoop::getEventLoopOfCurrentThread();
    });
  }

  // They outlive the loops, whose timers refer to them.
  LabPauses pauses_;
  std::list<LabPauses> more_;
  Loops loops_{2};
};

constexpr milliseconds kMinute{60'000};

}  // namespace

TEST_F(LabPausesTest, APauseTakesItsTime) {
  const auto began = steady_clock::now();
  EXPECT_EQ(finish(pause(1, milliseconds(50))), loops_.at(1));
  EXPECT_GE(steady_clock::now() - began, milliseconds(50));
}

TEST_F(LabPausesTest, EndResumesEveryPauseOnItsOwnLoop) {
  std::vector<std::future<trantor::EventLoop*>> all;
  for (std::size_t i = 0; i < 20; ++i) all.push_back(pause(i % 2, kMinute));
  EXPECT_EQ(all.back().wait_for(milliseconds(20)), std::future_status::timeout);
  pauses_.end();
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(finish(std::move(all[i])), loops_.at(i % 2));
}

TEST_F(LabPausesTest, AfterTheEndPausesTakeNoTime) {
  pauses_.end();
  EXPECT_EQ(finish(pause(0, kMinute)), loops_.at(0));
}

// The timer and end() of one pause at the same time: it goes on once.
TEST_F(LabPausesTest, APauseEndsOnceEvenWhenItsTimeIsOverAtTheEnd) {
  for (int round = 0; round < 200; ++round) {
    auto& pauses = more_.emplace_back();
    auto done = startOn(loops_.at(0), [&]() -> drogon::Task<int> {
      co_await pauses.pause(milliseconds(1));
      co_return 1;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(900 + round));
    pauses.end();
    EXPECT_EQ(finish(std::move(done)), 1);
  }
}

}  // namespace festa::test
