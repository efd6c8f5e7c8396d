// Two queues on one broker, as two processes have them.
#include "tests/queue/rabbitmq_fixture.h"
#include "tests/support/servers/tcp_proxy.h"

namespace festa::test {

namespace {

class RabbitMqInstancesTest : public RabbitMqQueueTest {
 protected:
  RabbitMqInstancesTest() : proxy_(sharedRabbit().port()) {
    auto settings = settings_;
    settings.port = proxy_.port();
    // The first to consume is the one that decides.
    a_ = open(settings, "a");
    publishAll(*a_, {1});
    EXPECT_TRUE(areWorked(1));
    b_ = open("b");
  }

  // Interleaved; each is confirmed before the next is sent.
  void publishInTurn(queue::QueueEntry first, queue::QueueEntry last) {
    for (auto entry = first; entry <= last; ++entry)
      finish(publish(entry % 2 == 0 ? *a_ : *b_, entry));
  }

  TcpProxy proxy_;
  Queue a_;
  Queue b_;
};

}  // namespace

TEST_F(RabbitMqInstancesTest, OneProcessDecidesAndThereIsOneSequence) {
  publishInTurn(2, 100);
  EXPECT_TRUE(areWorked(100));
  EXPECT_EQ(clerk_->calls("admit"), entries(1, 100));
  EXPECT_EQ(clerk_->mostRunning("admit"), 1);
  EXPECT_TRUE(clerk_->admittedAt("b").empty());
}

TEST_F(RabbitMqInstancesTest, TheOtherTakesOverWhenOneStops) {
  clerk_->admissionsWait = true;
  publishInTurn(2, 50);
  ASSERT_TRUE(eventually([&] { return clerk_->running("admit") == 1; }));
  auto stopped = std::async(std::launch::async, [&] { a_->stop(); });
  ASSERT_TRUE(eventually([&] { return !a_->isAvailable(); }));
  clerk_->admissionsWait = false;
  finish(std::move(stopped));
  EXPECT_TRUE(areWorked(50));
  EXPECT_EQ(clerk_->calls("admit"), entries(1, 50));
  EXPECT_EQ(clerk_->mostRunning("admit"), 1);
  EXPECT_EQ(clerk_->admittedAt("a"), entries(1, 2));
}

TEST_F(RabbitMqInstancesTest, TheOtherTakesOverWhenAConnectionIsCut) {
  clerk_->admissionsWait = true;
  publishInTurn(2, 50);
  ASSERT_TRUE(eventually([&] { return clerk_->running("admit") == 1; }));
  proxy_.cut();
  // While the first is still at it: that an entry is decided once is up to the decision.
  EXPECT_TRUE(eventually([&] { return clerk_->running("admit at b") == 1; }));
  clerk_->admissionsWait = false;
  EXPECT_TRUE(areWorked(50));
  EXPECT_EQ(clerk_->admitted(), entries(1, 50));
  EXPECT_EQ(clerk_->mostRunning("admit at a"), 1);
  EXPECT_EQ(clerk_->mostRunning("admit at b"), 1);
  EXPECT_EQ(clerk_->admittedAt("a"), entries(1, 2));
}

}  // namespace festa::test
