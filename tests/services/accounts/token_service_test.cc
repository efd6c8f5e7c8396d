#include "services/accounts/token_service.h"

#include "tests/support/http/crafted_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace festa::test {

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

const std::string kSecret = "a secret that is long enough for HS256";
constexpr std::chrono::seconds kHour{3600};

const TokenService& tokens() {
  static const TokenService service(kSecret, kHour);
  return service;
}

Caller council() {
  return {"council@example.org", 17, Realm::kCouncil, 42, {"COUNCIL", "ADMIN"}};
}

std::string encoded(std::string_view text) {
  return base64Url(text);
}

std::string crafted(const std::string& header, const std::string& payload, const EVP_MD* digest,
                    const std::string& secret = kSecret) {
  return craftedToken(header, payload, secret, digest);
}

std::string crafted(const std::string& payload) {
  return crafted(R"({"alg":"HS256","typ":"JWT"})", payload, EVP_sha256());
}

std::string inAnHour() {
  return std::to_string(std::time(nullptr) + 3600);
}

std::string goodPayload() {
  return R"({"sub":"c","uid":17,"realm":"council","festivalId":42,"roles":["COUNCIL"],"exp":)" +
         inAnHour() + '}';
}

}  // namespace

TEST(TokenService, ATokenComesBackAsItsCaller) {
  const auto caller = tokens().verify(tokens().issue(council()));
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->login, "council@example.org");
  EXPECT_EQ(caller->uid, 17);
  EXPECT_EQ(caller->realm, Realm::kCouncil);
  EXPECT_EQ(caller->festivalId, 42);
  EXPECT_THAT(caller->roles, ElementsAre("COUNCIL", "ADMIN"));
  EXPECT_TRUE(caller->hasRole("ADMIN"));
  EXPECT_FALSE(caller->hasRole("admin"));
}

TEST(TokenService, ACallerKnowsWhenTheTokenEndsAlsoWhenItIsVerifiedAgain) {
  const auto now = std::time(nullptr);
  const auto payload = [](const std::string& times) {
    return R"({"sub":"u","uid":1,"realm":"user","roles":[],)" + times + '}';
  };
  const auto endOf = [&](const std::string& times) {
    const auto token = crafted(payload(times));
    const auto first = tokens().verify(token);
    const auto again = tokens().verify(token);
    if (!first || !again) throw std::runtime_error("not accepted: " + times);
    EXPECT_EQ(first->expiresAt, again->expiresAt);
    return first->expiresAt.time_since_epoch().count();
  };
  EXPECT_EQ(endOf(R"("exp":)" + std::to_string(now + 2)), now + 2);
  EXPECT_EQ(endOf(R"("exp":)" + std::to_string(now + 7200) + R"(,"iat":)" + std::to_string(now)),
            now + 3600)
      << "not longer than tokens live";
  EXPECT_EQ(endOf(R"("exp":9223372036854775807)"), std::numeric_limits<std::int64_t>::max());
}

TEST(TokenService, AUserNeedsNeitherFestivalNorRoles) {
  const auto caller =
      tokens().verify(tokens().issue({"사용자", 1, Realm::kUser, std::nullopt, {}}));
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->login, "사용자");
  EXPECT_EQ(caller->realm, Realm::kUser);
  EXPECT_EQ(caller->festivalId, std::nullopt);
  EXPECT_THAT(caller->roles, IsEmpty());
}

TEST(TokenService, LargeNumbersKeepAllTheirDigits) {
  auto caller = council();
  caller.uid = 9007199254740993;
  caller.festivalId = std::numeric_limits<std::int64_t>::max();
  const auto read = tokens().verify(tokens().issue(caller));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->uid, caller.uid);
  EXPECT_EQ(read->festivalId, caller.festivalId);
}

TEST(TokenService, ControlATokenMadeByHandIsAccepted) {
  const auto caller = tokens().verify(crafted(goodPayload()));
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->uid, 17);
}

TEST(TokenService, ATokenOfAnotherSecretIsRefused) {
  EXPECT_FALSE(TokenService(kSecret + "x", kHour).verify(tokens().issue(council())));
  EXPECT_FALSE(TokenService("another secret, just as long as ours", kHour)
                   .verify(tokens().issue(council())));
}

TEST(TokenService, AnExpiredTokenIsRefused) {
  const TokenService past(kSecret, std::chrono::seconds(-1));
  EXPECT_FALSE(tokens().verify(past.issue(council())));
  EXPECT_FALSE(tokens().verify(TokenService(kSecret, std::chrono::seconds(0)).issue(council())));
}

TEST(TokenService, AlgorithmNoneIsRefused) {
  for (const auto* name : {"none", "None", "NONE"}) {
    const auto header = std::string(R"({"alg":")") + name + R"("})";
    const auto unsignedToken = encoded(header) + '.' + encoded(goodPayload());
    EXPECT_FALSE(tokens().verify(unsignedToken + '.')) << name;
    EXPECT_FALSE(tokens().verify(unsignedToken)) << name;
    EXPECT_FALSE(tokens().verify(crafted(header, goodPayload(), EVP_sha256()))) << name;
  }
}

TEST(TokenService, OtherAlgorithmsAreRefusedEvenWithTheRightSecret) {
  EXPECT_FALSE(tokens().verify(crafted(R"({"alg":"HS384"})", goodPayload(), EVP_sha384())));
  EXPECT_FALSE(tokens().verify(crafted(R"({"alg":"HS512"})", goodPayload(), EVP_sha512())));
  for (const auto* header :
       {R"({"alg":"hs256"})", R"({"alg":"RS256"})", R"({"alg":"ES256"})", R"({"alg":""})",
        R"({"alg":null})", R"({"typ":"JWT"})", "{}", "[]", "x"})
    EXPECT_FALSE(tokens().verify(crafted(header, goodPayload(), EVP_sha256()))) << header;
}

TEST(TokenService, ATamperedTokenIsRefused) {
  const auto token = tokens().issue(council());
  const auto first = token.find('.');
  const auto second = token.rfind('.');
  const auto header = token.substr(0, first);
  const auto signature = token.substr(second);
  EXPECT_FALSE(tokens().verify(header + '.' + encoded(goodPayload()) + signature));
  EXPECT_FALSE(tokens().verify(encoded(R"({"alg":"HS256"})") + token.substr(first)));
  EXPECT_FALSE(tokens().verify(token.substr(0, second)));
  EXPECT_FALSE(tokens().verify(token.substr(0, second + 1)));
  EXPECT_FALSE(tokens().verify(token.substr(0, token.size() - 4)));
  for (std::size_t i = 0; i < token.size() - 1; ++i) {
    auto changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(tokens().verify(changed)) << "character " << i;
  }
}

TEST(TokenService, GarbageIsRefused) {
  for (const auto* text : {"", ".", "..", "...", "a.b.c", "Bearer", "{}", "é.é.é",
                           "eyJhbGciOiJIUzI1NiJ9..", "====.====.====", " "})
    EXPECT_FALSE(tokens().verify(text)) << text;
}

TEST(TokenService, AVeryLongTokenIsRefusedHoweverWellItIsSigned) {
  EXPECT_FALSE(tokens().verify(std::string(5000, 'a')));
  auto payload = goodPayload();
  payload.insert(1, R"("x":")" + std::string(1000, 'x') + R"(",)");
  EXPECT_TRUE(tokens().verify(crafted(payload)));
  payload.insert(1, R"("y":")" + std::string(4000, 'y') + R"(",)");
  EXPECT_FALSE(tokens().verify(crafted(payload)));
}

TEST(TokenService, ATokenWithoutAClaimIsRefused) {
  const auto with = [](const std::string& claims) { return crafted("{" + claims + "}"); };
  const auto exp = R"("exp":)" + inAnHour();
  EXPECT_TRUE(tokens().verify(with(R"("sub":"u","uid":1,"realm":"user",)" + exp)));
  for (const auto* claims :
       {R"("uid":1,"realm":"user",)", R"("sub":"u","realm":"user",)", R"("sub":"u","uid":1,)", ""})
    EXPECT_FALSE(tokens().verify(with(claims + exp))) << claims;
  EXPECT_FALSE(tokens().verify(with(R"("sub":"u","uid":1,"realm":"user")"))) << "never expires";
  EXPECT_FALSE(tokens().verify(with(R"("sub":"u","uid":1,"realm":"council",)" + exp)))
      << "no festival";
}

TEST(TokenService, ClaimsOfTheWrongKindAreRefused) {
  const auto exp = R"("exp":)" + inAnHour() + "}";
  for (const auto* claims :
       {R"({"sub":1,"uid":1,"realm":"user",)", R"({"sub":"u","uid":"1","realm":"user",)",
        R"({"sub":"u","uid":0,"realm":"user",)", R"({"sub":"u","uid":-1,"realm":"user",)",
        R"({"sub":"u","uid":1,"realm":"admin",)", R"({"sub":"u","uid":1,"realm":true,)",
        R"({"sub":"u","uid":1,"realm":"council","festivalId":"7",)"})
    EXPECT_FALSE(tokens().verify(crafted(claims + exp))) << claims;
  for (const auto* expiry : {"0", "-1", "\"4102444800\"", "null", "true"})
    EXPECT_FALSE(tokens().verify(
        crafted(R"({"sub":"u","uid":1,"realm":"user","exp":)" + std::string(expiry) + "}")))
        << expiry;
}

TEST(TokenService, RolesThatAreNotTextAreIgnored) {
  const auto caller = tokens().verify(crafted(
      R"({"sub":"u","uid":1,"realm":"user","roles":["A",1,null,"B"],"exp":)" + inAnHour() + "}"));
  ASSERT_TRUE(caller);
  EXPECT_THAT(caller->roles, ElementsAre("A", "B"));
}

TEST(TokenService, ATokenCarriesThePasswordVersionAndWithoutOneItIsZero) {
  auto caller = council();
  caller.passwordVersion = 3;
  EXPECT_EQ(tokens().verify(tokens().issue(caller))->passwordVersion, 3);
  EXPECT_EQ(tokens().verify(tokens().issue(council()))->passwordVersion, 0);
  EXPECT_EQ(tokens().verify(crafted(goodPayload()))->passwordVersion, 0);
  for (const auto* odd :
       {"-1", "0.0", "1.5", "\"1\"", "null", "true", "[1]", "9223372036854775808"})
    EXPECT_FALSE(tokens().verify(crafted(R"({"sub":"u","uid":1,"realm":"user","passwordVersion":)" +
                                         std::string(odd) + R"(,"exp":)" + inAnHour() + "}")))
        << odd;
}

TEST(TokenService, ATokenIsRefusedBeforeItsTime) {
  const auto with = [](const std::string& notBefore) {
    return tokens().verify(crafted(R"({"sub":"u","uid":1,"realm":"user","nbf":)" + notBefore +
                                   R"(,"exp":)" + inAnHour() + "}"));
  };
  const auto now = std::time(nullptr);
  for (const auto& past : {std::string("0"), std::to_string(now - 1),
                           std::to_string(now - 1) + ".5", std::string("-1")})
    EXPECT_TRUE(with(past)) << past;
  for (const auto& other :
       {std::to_string(now + 60), std::string("1e300"), std::string("9223372036854775807"),
        std::string("\"0\""), std::string("null"), std::string("true"), std::string("[]")})
    EXPECT_FALSE(with(other)) << other;
}

TEST(TokenService, ATokenOlderThanTokensGetIsRefusedWhateverItSays) {
  const auto issued = [](std::int64_t secondsAgo) {
    return crafted(R"({"sub":"u","uid":1,"realm":"user","iat":)" +
                   std::to_string(std::time(nullptr) - secondsAgo) + R"(,"exp":)" + inAnHour() +
                   "}");
  };
  EXPECT_TRUE(tokens().verify(issued(3500)));
  EXPECT_FALSE(tokens().verify(issued(3600)));
  EXPECT_FALSE(tokens().verify(issued(1'000'000)));
  EXPECT_TRUE(tokens().verify(issued(-10))) << "clocks differ";
  for (const auto* when : {"\"1\"", "null", "0", "-1", "1.5", "true"})
    EXPECT_FALSE(tokens().verify(crafted(R"({"sub":"u","uid":1,"realm":"user","iat":)" +
                                         std::string(when) + R"(,"exp":)" + inAnHour() + "}")))
        << when;
}

TEST(TokenService, AHeaderWithDemandsIsRefused) {
  const auto with = [](const std::string& more) {
    return tokens().verify(
        crafted(R"({"alg":"HS256","typ":"JWT")" + more + "}", goodPayload(), EVP_sha256()));
  };
  EXPECT_TRUE(with(R"(,"kid":"1")"));
  for (const auto* crit : {R"(["exp"])", R"(["b64"],"b64":false)", "[]", "{}", "null", "1", "\"\""})
    EXPECT_FALSE(with(R"(,"crit":)" + std::string(crit))) << crit;
}

TEST(TokenService, RolesOfAnotherRealmAreLeftOut) {
  const auto roles = [](const std::string& realm) {
    return tokens()
        .verify(crafted(R"({"sub":"u","uid":1,"festivalId":1,"realm":")" + realm +
                        R"(","roles":["ROLE_USER","ROLE_COUNCIL","ROLE_ADMIN","X"],"exp":)" +
                        inAnHour() + "}"))
        ->roles;
  };
  EXPECT_THAT(roles("user"), ElementsAre("ROLE_USER", "X"));
  EXPECT_THAT(roles("council"), ElementsAre("ROLE_COUNCIL", "ROLE_ADMIN", "X"));
}

TEST(TokenService, DeepAndStrangeClaimsAreRefusedOrIgnored) {
  const auto with = [](const std::string& claims) {
    return tokens().verify(
        crafted(R"({"sub":"u","uid":1,"realm":"user","exp":)" + inAnHour() + ',' + claims + "}"));
  };
  EXPECT_FALSE(with(R"("x":)" + std::string(1400, '[') + std::string(1400, ']')));
  EXPECT_FALSE(with(R"("roles":)" + std::string(1100, '[') + std::string(1100, ']')));
  for (const auto* roles : {"null", "1", "\"ROLE_USER\"", R"({"0":"ROLE_USER"})", "[[]]", "[{}]"}) {
    const auto caller = with(R"("roles":)" + std::string(roles));
    ASSERT_TRUE(caller) << roles;
    EXPECT_THAT(caller->roles, IsEmpty()) << roles;
  }
  for (const auto* claims : {R"("sub":"a\u0000b")", R"("uid":1.0)", R"("uid":1e0)",
                             R"("uid":9223372036854775808)", R"("uid":1e400)", R"("exp":1e300)"})
    EXPECT_FALSE(with(claims)) << claims;
}

TEST(TokenService, NothingMayFollowATokenNotEvenAfterANul) {
  const TokenService tokens("a secret for tests, long enough!!", std::chrono::hours(1));
  const auto token = tokens.issue({"name", 7, Realm::kUser, std::nullopt, {"ROLE_USER"}});
  ASSERT_TRUE(tokens.verify(token));
  EXPECT_FALSE(tokens.verify(token + std::string("\0junk", 5)));
}

}  // namespace festa::test
