#include "services/periodic_task.h"

#include "tests/support/loops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

namespace festa::test {

using namespace std::chrono_literals;

namespace {

// Counts its runs, which wait while they are held.
class CountingTask : public PeriodicTask {
 public:
  explicit CountingTask(std::chrono::milliseconds interval = 1ms,
                        FirstRun firstRun = FirstRun::kAtOnce)
      : PeriodicTask(interval, {"it fails", "it works again"}, firstRun) {}

  std::string logged() const {
    const std::lock_guard guard(mutex_);
    return logged_;
  }

  std::atomic<int> ticks{0};
  std::atomic<int> runs{0};
  std::atomic<int> running{0};
  std::atomic<int> most{0};  // at a time
  std::atomic<bool> isNeeded{true};
  std::atomic<bool> isHeld{false};
  std::atomic<bool> endsWhenStopped{false};
  std::atomic<bool> fails{false};

 private:
  bool isDue() override {
    ++ticks;
    return isNeeded;
  }
  drogon::Task<> work() override {
    ++runs;
    most = std::max(most.load(), ++running);
    auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
    while (isHeld && !(endsWhenStopped && isStopped())) co_await drogon::sleepCoro(loop, 1ms);
    --running;
    if (fails) throw std::runtime_error("no luck");
  }
  void log(bool hasFailed, const std::string& text) const override {
    const std::lock_guard guard(mutex_);
    logged_ += (hasFailed ? "-" : "+") + text + '\n';
  }

  mutable std::mutex mutex_;
  mutable std::string logged_;  // guarded by mutex_
};

class PeriodicTaskTest : public testing::Test {
 protected:
  ~PeriodicTaskTest() override {
    task_->isHeld = false;
    task_->stop();
  }
  void start() { task_->start(loops_.at()); }
  // The first run may begin before start() returns.
  bool hasBegun() {
    return eventually([&] { return task_->runs >= 1; });
  }
  bool runs(int more) {
    const int before = task_->runs;
    return eventually([&] { return task_->runs >= before + more; });
  }
  bool ticks(int more) {
    const int before = task_->ticks;
    return eventually([&] { return task_->ticks >= before + more; });
  }

  Loops loops_;
  const std::shared_ptr<CountingTask> task_ = std::make_shared<CountingTask>();
};

}  // namespace

TEST_F(PeriodicTaskTest, ThereIsOneRunAtATime) {
  task_->isHeld = true;
  start();
  ASSERT_TRUE(hasBegun());
  EXPECT_TRUE(ticks(5)) << "it is asked during a run, too";
  EXPECT_EQ(task_->runs, 1);
  task_->isHeld = false;
  EXPECT_TRUE(runs(5));
  EXPECT_EQ(task_->most, 1);
}

TEST_F(PeriodicTaskTest, ThereIsNoRunWhenNothingIsDue) {
  task_->isNeeded = false;
  start();
  ASSERT_TRUE(ticks(5));
  EXPECT_EQ(task_->runs, 0);
  task_->isNeeded = true;
  EXPECT_TRUE(runs(1));
}

TEST_F(PeriodicTaskTest, TheFirstRunIsAtOnceOrAfterAnInterval) {
  const auto later = std::make_shared<CountingTask>(1h, CountingTask::FirstRun::kAfterInterval);
  const auto sooner = std::make_shared<CountingTask>(1h);
  later->start(loops_.at());
  sooner->start(loops_.at());
  EXPECT_TRUE(eventually([&] { return sooner->runs == 1; }));
  EXPECT_EQ(later->runs, 0);
}

TEST_F(PeriodicTaskTest, StopWaitsForTheRunThatIsUnderWayAndThereAreNoMore) {
  task_->isHeld = true;
  task_->endsWhenStopped = true;
  start();
  ASSERT_TRUE(hasBegun());
  task_->stop(10s);
  EXPECT_EQ(task_->running, 0);
  EXPECT_TRUE(ticks(5));
  EXPECT_EQ(task_->runs, 1);
}

TEST_F(PeriodicTaskTest, StopGivesUpOnARunThatDoesNotEnd) {
  task_->isHeld = true;
  start();
  ASSERT_TRUE(hasBegun());
  task_->stop(10ms);
  EXPECT_EQ(task_->running, 1);
}

TEST_F(PeriodicTaskTest, SaysOnceThatItFailsAndOnceThatItWorksAgain) {
  task_->fails = true;
  start();
  ASSERT_TRUE(runs(3));
  task_->fails = false;
  ASSERT_TRUE(runs(3));
  EXPECT_EQ(task_->logged(), "-it fails: no luck\n+it works again\n");
}

}  // namespace festa::test
