// Tokens over HTTP: which are accepted, and how they are sent.
#include "tests/http/api_test.h"
#include "tests/support/http/crafted_token.h"

#include <ctime>

namespace festa::test {

namespace {

constexpr const char* kHeader = R"({"alg":"HS256","typ":"JWT"})";

class TokenTest : public ApiTest {
 protected:
  std::string payload(const std::string& realm, const std::string& role,
                      const std::string& more = "") const {
    return R"({"sub":"x","uid":1,"realm":")" + realm + R"(","festivalId":)" +
           std::to_string(festival) + R"(,"roles":[")" + role + R"("],"exp":)" +
           std::to_string(std::time(nullptr) + 3600) + more + '}';
  }
  static std::string crafted(const std::string& payload, const std::string& header = kHeader) {
    return craftedToken(header, payload, secret());
  }
  int statusOf(const std::string& token) {
    return client.request("GET", "/admin/locks", bearing(token)).status;
  }
  std::string token() const { return council.at("Authorization").substr(7); }
  Response post(const std::string& authorization) {
    return client.send("POST", "/announcements", R"({"title":"t","content":"c"})",
                       {{"Authorization", authorization}});
  }
};

}  // namespace

TEST_F(TokenTest, TheSchemeIsBearerInAnyCase) {
  for (const auto* scheme : {"Bearer ", "bearer ", "BEARER ", "bEaReR ", "Bearer   "})
    EXPECT_EQ(post(scheme + token()).status, 201) << scheme;
  for (const auto* scheme : {"", "Basic ", "Bearer", "Bearer:", "Bear ", "Bearers ", "Token "})
    expectProblem(post(scheme + token()), 401, "UNAUTHENTICATED");
  for (const auto* text : {"Bearer", "Bearer ", "bearer bearer"})
    expectProblem(post(text), 401, "UNAUTHENTICATED");
}

TEST_F(TokenTest, ATokenIsNotAcceptedBeforeItsTime) {
  const auto now = std::time(nullptr);
  const auto with = [&](const std::string& notBefore) {
    return statusOf(crafted(payload("council", "ROLE_ADMIN", R"(,"nbf":)" + notBefore)));
  };
  EXPECT_EQ(with(std::to_string(now - 1)), 200);
  EXPECT_EQ(with("0"), 200);
  for (const auto& later : {std::to_string(now + 60), std::to_string(now + 60) + ".5",
                            std::string("1e300"), std::string("9223372036854775807"),
                            std::string("\"0\""), std::string("null"), std::string("[0]")})
    EXPECT_EQ(with(later), 401) << later;
}

TEST_F(TokenTest, AHeaderThatDemandsWhatWeDoNotKnowIsRefused) {
  const auto with = [&](const std::string& more) {
    return statusOf(
        crafted(payload("council", "ROLE_ADMIN"), R"({"alg":"HS256","typ":"JWT")" + more + "}"));
  };
  EXPECT_EQ(with(""), 200);
  EXPECT_EQ(with(R"(,"kid":"7")"), 200);
  for (const auto* crit :
       {R"(["exp"])", R"(["b64"],"b64":false)", "[]", "\"exp\"", "null", "1", "true", "{}"})
    EXPECT_EQ(with(R"(,"crit":)" + std::string(crit)), 401) << crit;
}

TEST_F(TokenTest, ARoleCountsInItsRealmOnly) {
  EXPECT_EQ(statusOf(crafted(payload("council", "ROLE_ADMIN"))), 200);
  EXPECT_EQ(statusOf(crafted(payload("user", "ROLE_ADMIN"))), 403);
  EXPECT_EQ(post("Bearer " + crafted(payload("council", "ROLE_COUNCIL"))).status, 201);
  EXPECT_EQ(post("Bearer " + crafted(payload("user", "ROLE_COUNCIL"))).status, 403);
  const auto claim = [this](const std::string& token) {
    return client.request("POST", "/coupons/1/claims", bearing(token)).status;
  };
  EXPECT_EQ(claim(crafted(payload("council", "ROLE_USER"))), 403);
  EXPECT_EQ(claim(crafted(payload("user", "ROLE_USER"))), 201);
}

}  // namespace festa::test
