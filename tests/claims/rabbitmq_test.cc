// Claims on RabbitMQ when things go wrong: each has exactly one effect, none is lost, order is
// kept, and nothing has to be restarted by hand.
#include "tests/claims/claims_fixture.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/stall_watch.h"

#include <signal.h>

namespace festa::test {

namespace {

class RabbitClaims : public ClaimsFixture {
 protected:
  // A kill of the broker that comes too early loses its queues.
  void awaitDurable(const RabbitServer& rabbit) const {
    for (const auto* queue : {".waiting", ".work", ".dead"})
      ASSERT_TRUE(eventually([&] { return rabbit.wouldFindAgain(prefix_ + queue); }));
  }
  double worstLag(const Service& service) const {
    const auto text = service.metrics();
    const std::string name = "\nfesta_loop_lag_seconds ";
    return std::stod(text.substr(text.find(name) + name.size()));
  }
  void expectAllGranted(std::int64_t coupon, int claims, int stock) const {
    ASSERT_TRUE(eventually([&] { return allFinished(coupon); }, std::chrono::seconds(60)));
    expectGrantedInOrder(coupon, claims, stock);
  }
};

}  // namespace

TEST_F(RabbitClaims, ThreeInstancesGiveOneSequenceAndAnyOfThemAnswers) {
  start(3, onBroker(sharedRabbit().port()));
  const auto coupon = sales_.coupon(150, true);
  claimInTurn(coupon, 1, 180);
  expectAllGranted(coupon, 180, 150);
  const auto id = sales_.number(
      "SELECT id FROM coupon_claims WHERE coupon_id = $1::bigint AND user_id = 7", coupon);
  for (const auto& instance : instances_) {
    const auto view = instance->client().get("/coupons/claims/" + std::to_string(id), Sales::as(7));
    EXPECT_EQ(view.json()["state"].asString(), "DONE");
  }
}

TEST_F(RabbitClaims, AnInstanceKilledInMidWorkLosesNothing) {
  const auto startOne = [&](const std::string& workMs) {
    start(1, onBroker(sharedRabbit().port(), {{"QUEUE_WORK_MS", workMs}, {"QUEUE_WORKERS", "2"}}));
  };
  startOne("60000");  // slow, so that it has work in hand whenever it is killed
  startOne("50");
  const auto coupon = sales_.coupon(80, true);
  claimInTurn(coupon, 1, 90);
  ASSERT_TRUE(eventually([&] { return done(coupon) >= 10; }));
  instances_[0]->kill();
  ASSERT_FALSE(allFinished(coupon)) << "it was killed too late to see anything";
  expectAllGranted(coupon, 90, 80);
}

// What an instance leaves that was killed between its commit and its message.
TEST_F(RabbitClaims, AClaimThatWasNotPublishedIsFoundAndPublished) {
  start(1, onBroker(sharedRabbit().port()));
  const auto coupon = sales_.coupon(1, true);
  sales_.number(
      "INSERT INTO coupon_claims (coupon_id, user_id, state, one_per_user, queue, created_at)"
      " VALUES ($1::bigint, 1, 'NEW', true, 'queue-rabbitmq', now() - interval '1 minute')"
      " RETURNING id",
      coupon);
  expectAllGranted(coupon, 1, 1);
}

TEST_F(RabbitClaims, WhileTheBrokerIsAwayClaimsAreRefusedAtOnceAndNoLoopWaits) {
  RabbitServer rabbit;
  StallWatch stalls;  // from before the service's first loop: its metric remembers
  start(1, onBroker(rabbit.port(), {{"QUEUE_WORK_MS", "20"}, {"QUEUE_WORKERS", "2"}}));
  const auto& instance = *instances_[0];
  const auto coupon = sales_.coupon(110, true);
  claimInTurn(coupon, 1, 80);
  awaitDurable(rabbit);
  rabbit.kill();
  // Not by a claim: one that comes before the loss is noticed is accepted.
  ASSERT_TRUE(
      eventually([&] { return !instance.client().get("/readyz").json()["degraded"].empty(); }));
  for (int round = 0; round < 20; ++round) {
    const auto refused = claim(instance, coupon, 1000);
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.code(), "QUEUE_UNAVAILABLE");
    EXPECT_FALSE(refused.header("retry-after").empty());
    const auto ready = instance.client().get("/readyz");
    EXPECT_EQ(ready.status, 200);
    EXPECT_EQ(ready.json()["degraded"][0].asString(), "rabbitmq");
  }
  // Whoever waits for the broker does so for its time-outs, 2 s.
  const auto lag = worstLag(instance);
  EXPECT_LT(lag, 1.5 + 2 * stalls.longestSeconds()) << "an event loop waited for the broker";
  rabbit.start();
  awaitQueue(instance);
  claimInTurn(coupon, 81, 120);
  expectAllGranted(coupon, 120, 110);
}

TEST_F(RabbitClaims, ConnectionsCutAgainAndAgainGiveEachClaimOneEffect) {
  TcpProxy proxy(sharedRabbit().port());
  start(1, onBroker(proxy.port(), {{"QUEUE_WORK_MS", "10"}, {"QUEUE_WORKERS", "3"}}));
  const auto coupon = sales_.coupon(100, true);
  claimInTurn(coupon, 1, 110);
  // Between COMMIT and acknowledgement, among other moments.
  for (std::int64_t finished = 0; finished < 80; finished = done(coupon)) {
    proxy.cut();
    ASSERT_TRUE(eventually([&] { return done(coupon) > finished || allFinished(coupon); },
                           std::chrono::seconds(60)));
  }
  expectAllGranted(coupon, 110, 100);
}

// The instance that decides is frozen; another one takes over; then the first continues in the
// middle of its decision.
TEST_F(RabbitClaims, AFrozenDeciderIsReplacedAndItsAwakeningChangesNothing) {
  start(2, onBroker(sharedRabbit().port(), {{"QUEUE_WORKERS", "4"}}));
  const auto coupon = sales_.coupon(200, true);
  for (int round = 0; round < 2; ++round) {
    auto& frozen = *instances_[static_cast<std::size_t>(round)];
    const auto& awake = *instances_[static_cast<std::size_t>(1 - round)];
    frozen.process().signal(SIGSTOP);
    for (int user = round * 100 + 1; user <= round * 100 + 100; ++user)
      ASSERT_EQ(untilServed([&] { return claim(awake, coupon, user); }).status, 202);
    EXPECT_TRUE(
        eventually([&] { return done(coupon) == round * 100 + 100; }, std::chrono::seconds(60)))
        << "no instance took over";
    frozen.process().signal(SIGCONT);
    awaitQueue(frozen);
  }
  expectAllGranted(coupon, 200, 200);
}

}  // namespace festa::test
