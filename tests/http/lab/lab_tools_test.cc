// festabook seed and festabook token, as ./dev seed and ./dev token run them.
#include "app/lab.h"

#include "tests/support/http/sales.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

Config configOf(const Service& service, bool lab) {
  auto variables = serviceEnvironment(service.database(), service.port(), {});
  variables["FESTA_LAB"] = lab ? "true" : "false";
  return readConfig("", variables);
}

}  // namespace

TEST(LabTools, SeededUsersBuyWithTokensThatNeededNoLogin) {
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  const auto config = configOf(lab, true);
  EXPECT_EQ(seedUsers(config, 150), 50) << "the demo has a hundred";
  EXPECT_EQ(seedUsers(config, 150), 0);
  const auto tokens = tokensFor(config, {"user150", "admin"});
  ASSERT_EQ(tokens.size(), 2U);
  auto client = lab.client();
  const auto bearing = [](const std::string& token) {
    return Headers{{"Authorization", "Bearer " + token}};
  };
  EXPECT_EQ(client.request("POST", "/coupons/1/claims", bearing(tokens[0])).status, 201);
  EXPECT_EQ(client.get("/business/performances/1/reservations", bearing(tokens[1])).status, 200);
  EXPECT_EQ(
      client.send("POST", "/users/login", R"({"userId":"user150","userPw":"user-demo-1"})").status,
      201);
  EXPECT_THROW(tokensFor(config, {"nobody"}), ConfigError);
}

TEST(LabTools, OutsideTheLabThereAreNone) {
  Service service(sharedPg().createDatabase());
  EXPECT_THROW(seedUsers(configOf(service, false), 1), ConfigError);
  EXPECT_THROW(tokensFor(configOf(service, false), {"user1"}), ConfigError);
}

}  // namespace festa::test
