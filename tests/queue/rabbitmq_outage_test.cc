// The broker is restarted, dead, or frozen.
#include "tests/queue/rabbitmq_fixture.h"

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using queue::SteadyClock;

constexpr auto kRecovery = 60s;  // the broker has to start first

std::chrono::milliseconds since(SteadyClock::time_point begin,
                                SteadyClock::time_point end = SteadyClock::now()) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(end - begin);
}

// The largest pause between two beats of a timer on a loop. On a loop that has nothing to do it is
// the control: what the machine makes any loop wait.
class LoopWatch {
 public:
  explicit LoopWatch(trantor::EventLoop* loop)
      : loop_(loop), timer_(loop->runEvery(0.01, [beats = beats_] { beat(*beats); })) {}
  ~LoopWatch() { loop_->invalidateTimer(timer_); }
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  // So far, with the pause that still lasts.
  std::chrono::milliseconds longestGap() const {
    // A beat writes them in the other order: a pause that ends meanwhile is in one of them.
    const auto last = beats_->last.load();
    return std::max(beats_->longest.load(), since(last));
  }

 private:
  struct Beats {
    std::atomic<SteadyClock::time_point> last{SteadyClock::now()};
    std::atomic<std::chrono::milliseconds> longest{};
  };
  static void beat(Beats& beats) {
    const auto now = SteadyClock::now();
    beats.longest = std::max(beats.longest.load(), since(beats.last.load(), now));
    beats.last = now;
  }

  trantor::EventLoop* const loop_;
  const std::shared_ptr<Beats> beats_ = std::make_shared<Beats>();
  const trantor::TimerId timer_;
};

class RabbitMqOutageTest : public RabbitMqQueueTest {
 protected:
  ~RabbitMqOutageTest() override { sharedRabbit().thaw(); }

  void killBroker(const queue::RabbitMqQueue& queue) {
    for (const auto* name : {".waiting", ".work", ".dead"})
      ASSERT_TRUE(
          eventually([&] { return sharedRabbit().wouldFindAgain(settings_.prefix + name); }));
    sharedRabbit().kill();
    ASSERT_TRUE(eventually([&] { return !queue.isAvailable(); }));
  }
  // How long it takes a publish to fail.
  std::chrono::milliseconds timeToRefuse(queue::RabbitMqQueue& queue) {
    const auto begin = SteadyClock::now();
    EXPECT_THROW(finish(publish(queue, 99)), queue::QueueUnavailable);
    return since(begin);
  }
  // More than what waits for no time-out takes on this machine, asked after it was measured. The
  // shortest time-out of these tests is 2 s.
  static std::chrono::milliseconds atOnce(const LoopWatch& control) {
    return 1500ms + 2 * control.longestGap();
  }
  // A broker that has just come back may not confirm in time at first; the entry may then be there
  // twice.
  void expectService(queue::RabbitMqQueue& queue, queue::QueueEntry entry) {
    EXPECT_TRUE(eventually([&] { return isConfirmed(queue, entry); }, kRecovery));
    EXPECT_TRUE(eventually([&] { return clerk_->worked().contains(entry); }, kRecovery));
  }
  bool isConfirmed(queue::RabbitMqQueue& queue, queue::QueueEntry entry) {
    try {
      finish(publish(queue, entry));
      return true;
    } catch (const queue::QueueUnavailable&) {
      return false;
    }
  }

  Loops idle_;  // for the control
};

}  // namespace

TEST_F(RabbitMqOutageTest, WhatWasConfirmedSurvivesAKilledBroker) {
  clerk_->workWaits = true;
  const auto queue = open();
  publishAll(*queue, entries(1, 20));
  ASSERT_TRUE(eventually([&] { return observer_->admissions == 20; }));
  clerk_->admissionsWait = true;
  publishAll(*queue, entries(21, 60));
  ASSERT_TRUE(eventually([&] { return clerk_->running("admit") == 1; }));
  killBroker(*queue);
  sharedRabbit().start();
  clerk_->admissionsWait = false;
  clerk_->workWaits = false;
  EXPECT_TRUE(areWorked(60, kRecovery));
  EXPECT_EQ(clerk_->admitted(), entries(1, 60));
  EXPECT_EQ(clerk_->mostRunning("admit"), 1);
  EXPECT_LE(clerk_->mostRunning("work"), settings_.workers);
  EXPECT_TRUE(clerk_->calls("giveUp").empty());
  expectService(*queue, 61);
}

TEST_F(RabbitMqOutageTest, WhileTheBrokerIsDeadPublishFailsAtOnceAndLoopsRun) {
  const auto queue = open();
  const auto another = open();
  const LoopWatch watch(loops_.at());
  const LoopWatch control(idle_.at());
  killBroker(*queue);
  // The time-outs are 10 s.
  const auto end = SteadyClock::now() + 1s;
  do {
    EXPECT_LT(timeToRefuse(*queue), 5s);
  } while (SteadyClock::now() < end);
  EXPECT_LT(watch.longestGap(), 5s);

  const auto begin = SteadyClock::now();
  another->stop();
  const auto taken = since(begin);
  EXPECT_LT(taken, atOnce(control));

  sharedRabbit().start();
  expectService(*queue, 1);
}

TEST_F(RabbitMqOutageTest, AFrozenBrokerIsDetectedByTheFirstPublish) {
  settings_.publishTimeout = queue::Millis{2'000};
  settings_.connectTimeout = queue::Millis{2'000};
  const auto queue = open();
  const LoopWatch watch(loops_.at());
  const LoopWatch control(idle_.at());
  sharedRabbit().freeze();
  const auto begin = SteadyClock::now();
  auto first = publish(*queue, 98);
  EXPECT_THROW(finish(publish(*queue, 99)), queue::QueueUnavailable);
  EXPECT_GE(since(begin), 1500ms);  // control: it was frozen, not dead
  // Those who come after the first do not wait for a time-out of their own.
  auto longest = 0ms;
  do {
    longest = std::max(longest, timeToRefuse(*queue));
  } while (SteadyClock::now() < begin + 4s);
  EXPECT_LT(longest, atOnce(control));
  EXPECT_THROW(finish(std::move(first)), queue::QueueUnavailable);
  EXPECT_FALSE(queue->isAvailable());
  const auto gap = watch.longestGap();
  EXPECT_LT(gap, atOnce(control));
  sharedRabbit().thaw();
  expectService(*queue, 1);
}

TEST_F(RabbitMqOutageTest, AFrozenBrokerIsDetectedByMissingHeartbeats) {
  settings_.heartbeat = 1s;
  const auto queue = open();
  sharedRabbit().freeze();
  // Nothing else would notice: there is no publish.
  EXPECT_TRUE(eventually([&] { return !queue->isAvailable(); }));
  sharedRabbit().thaw();
  expectService(*queue, 1);
}

}  // namespace festa::test
