#include "tests/queue/rabbitmq_fixture.h"
#include "tests/support/servers/tcp_proxy.h"

namespace festa::test {

using testing::Each;
using testing::ElementsAre;

TEST_F(RabbitMqQueueTest, EntriesAreAdmittedInTheirOrderOneAtATime) {
  const auto queue = open();
  publishAll(*queue, entries(1, 500));
  EXPECT_TRUE(areWorked(500));
  EXPECT_EQ(clerk_->calls("admit"), entries(1, 500));
  EXPECT_EQ(clerk_->mostRunning("admit"), 1);
  EXPECT_TRUE(eventually([&] { return observer_->works == 500; }));
  // Work may end before the confirm is read that makes it an admission.
  EXPECT_TRUE(eventually([&] { return observer_->admissions == 500; }));
  EXPECT_EQ(observer_->redeliveries, 0);
  EXPECT_TRUE(hasLength("waiting", 0));
  EXPECT_TRUE(hasLength("work", 0));
}

TEST_F(RabbitMqQueueTest, EntriesThatAreOverAreNotWorkedOn) {
  const auto queue = open();
  publishAll(*queue, {1, -2, 3});
  EXPECT_TRUE(areWorked(2));
  EXPECT_THAT(clerk_->calls("admit"), ElementsAre(1, -2, 3));
  EXPECT_THAT(clerk_->worked(), ElementsAre(1, 3));
}

TEST_F(RabbitMqQueueTest, AsManyAreWorkedOnAsThereAreWorkers) {
  settings_.workers = 3;
  settings_.countEvery = queue::Millis{20};
  clerk_->workWaits = true;
  const auto queue = open();
  publishAll(*queue, entries(1, 10));
  EXPECT_TRUE(eventually([&] { return clerk_->running("work") == 3; }));
  EXPECT_TRUE(hasLength("work", 4)) << "as many again are in hand";
  EXPECT_EQ(queue->counts().inWork, 3);
  clerk_->workWaits = false;
  EXPECT_TRUE(areWorked(10));
  EXPECT_EQ(clerk_->mostRunning("work"), 3);
}

TEST_F(RabbitMqQueueTest, AWorkerThatIsDoneGetsTheNextEntryAtOnce) {
  settings_.workers = 1;
  clerk_->workWaits = true;
  const auto queue = open();
  publishAll(*queue, entries(1, 101));
  // From here on only the worker determines when the next one begins.
  ASSERT_TRUE(eventually([&] { return observer_->admissions == 101; }));
  clerk_->workWaits = false;
  ASSERT_TRUE(areWorked(101));
  auto pauses = clerk_->pausesBetween("work");
  ASSERT_EQ(pauses.size(), 100U);
  // Half of them: other programs share the machine. A link that is not woken sleeps for a second.
  std::nth_element(pauses.begin(), pauses.begin() + 50, pauses.end());
  EXPECT_LT(pauses[50], std::chrono::milliseconds(50));
}

TEST_F(RabbitMqQueueTest, TheLengthOfTheWaitingQueueIsKnown) {
  settings_.countEvery = queue::Millis{20};
  clerk_->admissionsWait = true;
  const auto queue = open();
  publishAll(*queue, entries(1, 100));
  // A few are fetched ahead.
  EXPECT_TRUE(eventually([&] { return queue->counts().waiting > 80; }));
  clerk_->admissionsWait = false;
  EXPECT_TRUE(eventually([&] { return queue->counts().waiting == 0; }));
}

TEST_F(RabbitMqQueueTest, AnEntryIsAcknowledgedWhenItsHandlerHasReturned) {
  TcpProxy proxy(sharedRabbit().port());
  settings_.port = proxy.port();
  clerk_->workWaits = true;
  const auto queue = open();
  publishAll(*queue, {7});
  ASSERT_TRUE(eventually([&] { return clerk_->running("work") == 1; }));
  proxy.cut();
  clerk_->workWaits = false;
  // The handler of the connection that is gone returned, and that was no acknowledgement.
  EXPECT_TRUE(eventually([&] { return observer_->works == 1; }));
  EXPECT_THAT(clerk_->calls("work"), ElementsAre(7, 7));
  EXPECT_GE(observer_->redeliveries, 1);
}

TEST_F(RabbitMqQueueTest, AnEntryWhoseAcknowledgementIsLostComesAgain) {
  TcpProxy proxy(sharedRabbit().port());
  settings_.port = proxy.port();
  // Nothing but the acknowledgement is sent when the links have done what they do at their start.
  settings_.heartbeat = std::chrono::seconds(60);
  settings_.countEvery = queue::Millis{60'000};
  const auto queue = open();
  publishAll(*queue, {1});
  ASSERT_TRUE(eventually([&] { return observer_->admissions == 1 && observer_->works == 1; }));
  ASSERT_TRUE(hasLength("waiting", 0));
  ASSERT_TRUE(hasLength("work", 0));
  clerk_->workWaits = true;
  sharedRabbit().put(settings_.prefix + ".work", "7");
  ASSERT_TRUE(eventually([&] { return clerk_->running("work") == 1; }));
  proxy.holdBackNext();
  clerk_->workWaits = false;
  ASSERT_TRUE(eventually([&] { return proxy.isHoldingBack() && observer_->works == 2; }));
  EXPECT_THAT(clerk_->calls("work"), ElementsAre(1, 7));
  proxy.cut();
  EXPECT_TRUE(eventually([&] { return observer_->works == 3; }));
  EXPECT_THAT(clerk_->calls("work"), ElementsAre(1, 7, 7));
}

TEST_F(RabbitMqQueueTest, AnAdmissionThatFailsIsRepeatedBeforeAnyOther) {
  clerk_->failedAdmissions = 3;
  const auto queue = open();
  publishAll(*queue, {1, 2});
  EXPECT_TRUE(areWorked(2));
  EXPECT_THAT(clerk_->calls("admit"), ElementsAre(1, 1, 1, 1, 2));
}

TEST_F(RabbitMqQueueTest, WorkThatFailsComesAgain) {
  clerk_->failedWorks = 2;
  const auto queue = open();
  publishAll(*queue, {1});
  EXPECT_TRUE(eventually([&] { return observer_->works == 1; }));
  EXPECT_THAT(clerk_->calls("work"), ElementsAre(1, 1, 1));
  EXPECT_EQ(observer_->redeliveries, 2);
  EXPECT_TRUE(hasLength("dead", 0));
}

TEST_F(RabbitMqQueueTest, WorkThatFailsTooOftenIsGivenUpAndKeptAside) {
  settings_.deliveryLimit = 3;
  clerk_->failedWorks = 1'000'000;
  clerk_->failedGiveUps = 1;
  const auto queue = open();
  publishAll(*queue, {1});
  EXPECT_TRUE(eventually([&] { return observer_->deadLetters == 1; }));
  EXPECT_THAT(clerk_->calls("work"), ElementsAre(1, 1, 1));
  EXPECT_THAT(clerk_->calls("giveUp"), ElementsAre(1, 1));
  EXPECT_TRUE(hasLength("dead", 1));
  EXPECT_TRUE(hasLength("work", 0));
}

TEST_F(RabbitMqQueueTest, AMessageThatIsNoEntryIsKeptAside) {
  const auto queue = open();
  sharedRabbit().put(settings_.prefix + ".waiting", "seven");
  sharedRabbit().put(settings_.prefix + ".work", "");
  EXPECT_TRUE(hasLength("dead", 2));
  publishAll(*queue, {8});
  EXPECT_TRUE(areWorked(1));
  EXPECT_THAT(clerk_->calls("work"), Each(8));
}

TEST_F(RabbitMqQueueTest, StopFinishesWhatIsInHandAndLeavesTheRest) {
  settings_.workers = 1;
  clerk_->workWaits = true;
  auto queue = open();
  publishAll(*queue, entries(1, 5));
  ASSERT_TRUE(eventually([&] { return clerk_->running("work") == 1; }));
  ASSERT_TRUE(eventually([&] { return observer_->admissions == 5; }));
  auto stopped = std::async(std::launch::async, [&] { queue->stop(); });
  ASSERT_TRUE(eventually([&] { return !queue->isAvailable(); }));
  EXPECT_THROW(finish(publish(*queue, 6)), queue::QueueUnavailable);
  clerk_->workWaits = false;
  finish(std::move(stopped));
  EXPECT_EQ(observer_->works, 1);
  EXPECT_TRUE(hasLength("work", 4));

  queue = open();
  EXPECT_TRUE(areWorked(5));
  EXPECT_EQ(clerk_->calls("work"), entries(1, 5));
}

TEST_F(RabbitMqQueueTest, StopDoesNotWaitForEver) {
  settings_.stopPatience = queue::Millis{100};
  clerk_->workWaits = true;
  auto queue = open();
  publishAll(*queue, {1});
  ASSERT_TRUE(eventually([&] { return clerk_->running("work") == 1; }));
  queue->stop();
  queue.reset();
  EXPECT_TRUE(hasLength("work", 1));
  clerk_->workWaits = false;
  EXPECT_TRUE(eventually([&] { return clerk_->running("work") == 0; }));
}

}  // namespace festa::test
