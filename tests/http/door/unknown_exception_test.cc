// Handlers that throw something that is not a std::exception.
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using testing::HasSubstr;

const std::string kPinned = R"({"title":"pin","content":"me","isPinned":true})";
const Headers::value_type kFault{"X-Lab-Fault", "throw-number-before-commit"};

void expectInternal(const Response& answer) {
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.code(), "INTERNAL");
}

}  // namespace

TEST(UnknownException, IsAnsweredAndKeyPlaceAndDrainCountAreGivenBack) {
  // One request may hold a lock at a time: a place on the board that is not given back is seen.
  Service service(sharedPg().createDatabase(),
                  patient({{"LAB", "true"}, {"HTTP_MAX_IN_FLIGHT", "1"}}));
  const Sales sales(service.database());
  sales.haveUsers(1);
  const auto festival = service.newFestival();
  const auto coupon = "/coupons/" + std::to_string(sales.coupon(5, false)) + "/claims";
  const auto user = Sales::as(1);
  auto failing = festival;
  failing.insert(kFault);
  auto failingUser = user;
  failingUser.insert(kFault);
  auto client = service.client();
  for (int round = 0; round < 3; ++round) {
    expectInternal(client.send("POST", "/announcements", kPinned, failing));
    expectInternal(client.request("POST", coupon, failingUser));
    auto withKey = failingUser;
    withKey["Idempotency-Key"] = "throws-" + std::to_string(round);
    expectInternal(client.request("POST", coupon, withKey));
    EXPECT_EQ(client.send("POST", "/announcements", kPinned, festival).status, 201);
    EXPECT_EQ(client.request("POST", coupon, user).status, 201);
  }
  EXPECT_TRUE(eventually([&] {
    return service.metrics().find("\nfesta_http_in_flight 1\n") != std::string::npos;
  })) << "others than the one that asks";
  service.stop();
  EXPECT_THAT(service.log(), HasSubstr(R"("event":"stopped","unanswered":0)"));
}

}  // namespace festa::test
