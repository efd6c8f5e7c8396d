// Coupons as API.md's table has them.
#include "tests/http/api_test.h"
#include "tests/support/http/sales.h"

namespace festa::test {

namespace {

class CouponApi : public ApiTest {
 protected:
  CouponApi() : sales_(service->database()) {}

  Response claim(std::int64_t coupon, std::int64_t user) {
    return client.request("POST", "/coupons/" + std::to_string(coupon) + "/claims",
                          Sales::as(user));
  }

  const Sales sales_;
};

}  // namespace

TEST_F(CouponApi, AnAdminMakesOneAndAnyoneReadsIt) {
  const auto made = asAdmin("POST", "/coupons", R"({"name":"맥주","stock":3,"onePerUser":true})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto json = made.json();
  EXPECT_EQ(namesIn(json),
            (std::set<std::string>{"couponId", "name", "stock", "remaining", "onePerUser"}));
  EXPECT_EQ(json["name"].asString(), "맥주");
  EXPECT_EQ(json["remaining"].asInt(), 3);
  EXPECT_TRUE(json["onePerUser"].asBool());
  const auto read = client.get("/coupons/" + json["couponId"].asString());
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.json(), json);
}

TEST_F(CouponApi, ClaimsAreNumberedUntilTheStockIsGone) {
  const auto coupon = sales_.coupon(2, false);
  for (int i = 1; i <= 2; ++i) {
    const auto granted = claim(coupon, 1);
    ASSERT_EQ(granted.status, 201) << granted.body;
    const auto json = granted.json();
    EXPECT_EQ(namesIn(json), (std::set<std::string>{"claimId", "state", "sequence", "remaining"}));
    EXPECT_EQ(json["state"].asString(), "DONE");
    EXPECT_EQ(json["sequence"].asInt(), i);
    EXPECT_EQ(json["remaining"].asInt(), 2 - i);
  }
  expectProblem(claim(coupon, 2), 409, "COUPON_SOLD_OUT");
}

TEST_F(CouponApi, OnePerUserMeansOne) {
  const auto coupon = sales_.coupon(5, true);
  EXPECT_EQ(claim(coupon, 1).status, 201);
  expectProblem(claim(coupon, 1), 409, "ALREADY_CLAIMED");
  EXPECT_EQ(claim(coupon, 2).json()["sequence"].asInt(), 2);
}

TEST_F(CouponApi, EveryRefusalHasTheCodeOfTheContract) {
  expectProblem(asAdmin("POST", "/coupons", "{}"), 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(asAdmin("POST", "/coupons", R"({"name":"","stock":0})")),
            (std::set<std::string>{"name", "stock", "onePerUser"}));
  expectProblem(asAdmin("POST", "/coupons", "["), 400, "MALFORMED_JSON");
  const std::string good = R"({"name":"a","stock":1,"onePerUser":false})";
  expectProblem(client.send("POST", "/coupons", good, council), 403, "FORBIDDEN");
  expectProblem(client.send("POST", "/coupons", good), 401, "UNAUTHENTICATED");
  expectProblem(client.get("/coupons/999999"), 404, "COUPON_NOT_FOUND");
  expectProblem(client.get("/coupons/-1"), 400, "INVALID_PARAMETER");
  expectProblem(claim(999'999, 1), 404, "COUPON_NOT_FOUND");
  expectProblem(claim(sales_.coupon(1, true), 1'000'000), 404, "USER_NOT_FOUND");
  const auto coupon = "/coupons/" + std::to_string(sales_.coupon(1, true)) + "/claims";
  expectProblem(client.request("POST", coupon, council), 403, "FORBIDDEN");
  expectProblem(client.request("POST", coupon), 401, "UNAUTHENTICATED");
}

}  // namespace festa::test
