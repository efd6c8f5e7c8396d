// What both queues promise: the stock in order of arrival, work in parallel, failures given up.
#include "tests/claims/claims_fixture.h"

#include <algorithm>

namespace festa::test {

namespace {

class BothQueues : public ClaimsFixture, public testing::WithParamInterface<std::string> {
 protected:
  Service::Settings settings(const Service::Settings& more) const {
    return GetParam() == "local" ? local(more) : onBroker(sharedRabbit().port(), more);
  }

  // How long it takes from the first claim to the end of the last.
  double secondsFor(int workers, int claims, int stock) {
    instances_.clear();
    start(1, settings({{"QUEUE_WORKERS", std::to_string(workers)}, {"QUEUE_WORK_MS", "50"}}));
    const auto coupon = sales_.coupon(stock, true);
    const auto began = std::chrono::steady_clock::now();
    claimInTurn(coupon, 1, claims);
    EXPECT_TRUE(eventually([&] { return allFinished(coupon); }, std::chrono::seconds(60)));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    expectGrantedInOrder(coupon, claims, stock);
    return taken.count();
  }
};

}  // namespace

// The size and the times of the original (1,011 claims, 100 ms each) are a benchmark; here the work
// of 60 admitted claims is 3 s for one worker.
TEST_P(BothQueues, GrantTheStockInOrderAndAsManyWorkersShareTheWork) {
  const double one = secondsFor(1, 66, 60);
  const double three = secondsFor(3, 66, 60);
  const double many = secondsFor(60, 66, 60);
  RecordProperty("seconds",
                 std::to_string(one) + ' ' + std::to_string(three) + ' ' + std::to_string(many));
  EXPECT_GE(one, 3.0) << "one worker did two things at a time";
  EXPECT_GE(three, 1.0);
  EXPECT_LT(three, one);
  EXPECT_LT(many, one);
}

TEST_P(BothQueues, AThousandClaimsAtOnceAreOneSequence) {
  start(1, settings({{"QUEUE_WORKERS", "16"}}));
  const auto coupon = sales_.coupon(400, true);
  const auto answers =
      crowdOf({instances_[0]->port()}, 32, 500, [&](HttpClient& client, int index) {
        return client.request("POST", "/coupons/" + std::to_string(coupon) + "/claims",
                              Sales::as(index + 1));
      });
  EXPECT_EQ(countByCode(answers), (std::map<std::string, int>{{"202", 500}}));
  ASSERT_TRUE(eventually([&] { return allFinished(coupon); }, std::chrono::seconds(60)));
  EXPECT_EQ(done(coupon), 400);
  EXPECT_EQ(count(coupon, "sequence IS NOT NULL"), 400);
  EXPECT_EQ(
      sales_.number("SELECT max(sequence) FROM coupon_claims WHERE coupon_id = $1::bigint", coupon),
      400);
}

INSTANTIATE_TEST_SUITE_P(Queue, BothQueues, testing::Values("local", "rabbitmq"),
                         [](const auto& info) { return info.param; });

}  // namespace festa::test
