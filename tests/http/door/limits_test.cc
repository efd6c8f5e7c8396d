// Rate limits and the bound of requests in flight.
#include "tests/http/api_test.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"

#include <atomic>
#include <thread>

namespace festa::test {

namespace {

const std::string kLogin = R"({"username":"admin","password":"wrong-password"})";

}  // namespace

TEST(Limits, LoginsAreCountedByAddressAndWritesByCaller) {
  Service service(sharedPg().createDatabase(),
                  patient({{"LIMITS_LOGINS_PER_MINUTE", "3"}, {"LIMITS_WRITES_PER_MINUTE", "2"}}));
  auto client = service.client();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client.send("POST", "/councils/login", kLogin).code(), "WRONG_CREDENTIALS");
  const auto limited = client.send("POST", "/users/login", R"({"userId":"user1","userPw":"x"})");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.code(), "RATE_LIMITED");
  EXPECT_GE(std::stoi(limited.header("retry-after")), 1);
  EXPECT_LE(std::stoi(limited.header("retry-after")), 20);
  // X-Forwarded-For of a client that is no trusted proxy is ignored.
  EXPECT_EQ(
      client.send("POST", "/councils/login", kLogin, {{"X-Forwarded-For", "192.0.2.1"}}).status,
      429);

  const Sales sales(service.database());
  const auto coupon = "/coupons/" + std::to_string(sales.coupon(10, false)) + "/claims";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.request("POST", coupon, Sales::as(1)).status, 201);
  EXPECT_EQ(client.request("POST", coupon, Sales::as(1)).code(), "RATE_LIMITED");
  EXPECT_EQ(client.request("POST", coupon, Sales::as(2)).status, 201);
  EXPECT_EQ(client.get("/performances").status, 200) << "reads are not counted";
}

TEST(Limits, AConfiguredProxyNamesTheClient) {
  Service service(sharedPg().createDatabase(), patient({{"LIMITS_LOGINS_PER_MINUTE", "1"},
                                                        {"HTTP_TRUSTED_PROXIES", "127.0.0.0/8"}}));
  auto client = service.client();
  const auto from = [&](const std::string& address) {
    return client.send("POST", "/councils/login", kLogin, {{"X-Forwarded-For", address}}).status;
  };
  EXPECT_EQ(from("192.0.2.1"), 401);
  EXPECT_EQ(from("192.0.2.2"), 401);
  EXPECT_EQ(from("192.0.2.1"), 429);
  EXPECT_EQ(from("192.0.2.99, 192.0.2.2"), 429) << "what stands before the last may be invented";
}

TEST(Limits, ThereAreNoneInTheDemo) {
  Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(client.send("POST", "/users/login", R"({"userId":"nobody","userPw":"x"})").status,
              401);
}

TEST(Limits, AProxyThatIsNoAddressStopsTheStart) {
  const auto start =
      tryStart(sharedPg().createDatabase(), {{"HTTP_TRUSTED_PROXIES", "proxy.local"}});
  EXPECT_EQ(start.status, 1);
  EXPECT_NE(start.output.find("http.trusted_proxies"), std::string::npos) << start.output;
}

TEST(Limits, RequestsBeyondTheBoundAreTurnedAwayAndOperatorsAreNot) {
  Service service(sharedPg().createDatabase(),
                  patient({{"LAB", "true"}, {"HTTP_MAX_REQUESTS", "2"}}));
  const Sales sales(service.database());
  std::atomic<bool> isEnough{false};
  std::vector<std::jthread> slow;
  for (int user = 1; user <= 2; ++user) {
    const auto coupon = "/coupons/" + std::to_string(sales.coupon(1000, false)) + "/claims";
    slow.emplace_back([&, user, coupon] {
      auto headers = Sales::as(user);
      headers["X-Lab-Fault"] = "pause-before-commit=1000";
      bool isServed = false;
      // Again and again: the two have to meet, and the looks below are requests, too.
      EXPECT_TRUE(eventually([&] {
        if (service.client().request("POST", coupon, headers).status == 201) isServed = true;
        return isEnough && isServed;
      }));
    });
  }
  auto client = service.client();
  Response refused;
  EXPECT_TRUE(eventually([&] {
    refused = client.get("/performances");
    return refused.status == 503;
  }));
  EXPECT_EQ(refused.code(), "OVERLOADED");
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_EQ(client.get("/healthz").status, 200);
  EXPECT_EQ(client.get("/metrics").status, 200);
  EXPECT_EQ(
      client
          .request("OPTIONS", "/performances",
                   {{"Origin", "https://a.example"}, {"Access-Control-Request-Method", "GET"}})
          .status,
      204)
      << "a browser would not show the 503";
  isEnough = true;
  slow.clear();
  EXPECT_TRUE(eventually([&] { return client.get("/performances").status == 200; }))
      << "their places were not given back";
}

}  // namespace festa::test
