// The broker is restarted, dead, or frozen.
#include "tests/queue/rabbitmq_fixture.h"

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using queue::SteadyClock;

constexpr auto kRecovery = 60s;  // the broker has to start first

// The largest pause between two beats of a timer on a loop.
class LoopWatch {
 public:
  explicit LoopWatch(trantor::EventLoop* loop)
      : loop_(loop), timer_(loop->runEvery(0.01, [beats = beats_] { beat(*beats); })) {}
  ~LoopWatch() { loop_->invalidateTimer(timer_); }
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  std::chrono::milliseconds longestGap() const { return beats_->longest.load(); }

 private:
  struct Beats {
    SteadyClock::time_point last = SteadyClock::now();
    std::atomic<std::chrono::milliseconds> longest{};
  };
  static void beat(Beats& beats) {
    const auto now = SteadyClock::now();
    const auto gap = std::chrono::duration_cast<std::chrono::milliseconds>(now - beats.last);
    beats.longest = std::max(beats.longest.load(), gap);
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
    return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin);
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
  killBroker(*queue);
  const auto end = SteadyClock::now() + 1s;
  // Less than any time-out.
  while (SteadyClock::now() < end) EXPECT_LT(timeToRefuse(*queue), 1000ms);
  EXPECT_LT(watch.longestGap(), 1000ms);

  const auto begin = SteadyClock::now();
  another->stop();
  EXPECT_LT(SteadyClock::now() - begin, 1s);

  sharedRabbit().start();
  expectService(*queue, 1);
}

TEST_F(RabbitMqOutageTest, AFrozenBrokerIsDetectedByTheFirstPublish) {
  settings_.publishTimeout = queue::Millis{2'000};
  settings_.connectTimeout = queue::Millis{2'000};
  const auto queue = open();
  const LoopWatch watch(loops_.at());
  sharedRabbit().freeze();
  // Those who come after the first do not wait for a time-out of their own.
  const auto begin = SteadyClock::now();
  auto first = publish(*queue, 98);
  std::vector<std::chrono::milliseconds> refused;
  while (SteadyClock::now() < begin + 4s) refused.push_back(timeToRefuse(*queue));
  EXPECT_THROW(finish(std::move(first)), queue::QueueUnavailable);
  ASSERT_GT(refused.size(), 1U);
  EXPECT_GE(refused.front(), 1500ms);  // control: it was frozen, not dead
  EXPECT_LT(*std::max_element(refused.begin() + 1, refused.end()), 1000ms);
  EXPECT_FALSE(queue->isAvailable());
  EXPECT_LT(watch.longestGap(), 1000ms);
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
