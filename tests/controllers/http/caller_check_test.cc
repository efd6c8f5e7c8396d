#include "controllers/http/caller_check.h"

#include "services/error.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

constexpr std::chrono::hours kTokenLife{1};

class CallerCheckTest : public testing::Test {
 protected:
  static drogon::HttpRequestPtr request(const std::string& token) {
    auto request = drogon::HttpRequest::newHttpRequest();
    if (!token.empty()) request->addHeader("Authorization", "Bearer " + token);
    return request;
  }
  std::string token() const {
    return tokens_.issue({"council@example.org", 17, Realm::kCouncil, 42, {"ROLE_COUNCIL"}});
  }
  template <class Check>
  static std::optional<ErrorCode> refusal(const Check& check) {
    try {
      check();
    } catch (const ServiceError& error) {
      return error.code();
    }
    return std::nullopt;
  }
  // The limit of authenticated writes.
  static CallerLimits writes(std::int64_t perMinute) {
    return {nullptr, std::make_unique<RateLimiter>(perMinute, 10), {}};
  }

  const TokenService tokens_{"a secret that is long enough for HS256", kTokenLife};
  PasswordVersions passwords_{kTokenLife};
  const RouteSpec councils_{.method = drogon::Post, .path = "/x", .access = kCouncils};
  const RouteSpec admins_{.method = drogon::Post, .path = "/y", .access = kAdmins};
  RequestContext context_;
};

}  // namespace

TEST_F(CallerCheckTest, ACallerIsKnownFromItsTokenAndNeedsARole) {
  const CallerCheck check(tokens_, passwords_, {});
  const auto good = request(token());
  EXPECT_EQ(refusal([&] { check.identify(councils_, good, context_); }), std::nullopt);
  EXPECT_EQ(context_.caller.value().uid, 17);
  EXPECT_EQ(refusal([&] { check.identify(admins_, good, context_); }), ErrorCode::kForbidden);
  RequestContext unknown;
  EXPECT_EQ(refusal([&] { check.identify(councils_, request(""), unknown); }),
            ErrorCode::kUnauthenticated);
}

TEST_F(CallerCheckTest, ATokenIsVerifiedOnce) {
  const CallerCheck check(tokens_, passwords_, {});
  check.identify(councils_, request(token()), context_);
  EXPECT_EQ(refusal([&] { check.admit(councils_, request(""), context_); }), std::nullopt);
}

TEST_F(CallerCheckTest, ATokenThatEndedWhileTheBodyCameIsRefused) {
  const CallerCheck check(tokens_, passwords_, {});
  const auto slow = request(token());
  check.identify(councils_, slow, context_);
  passwords_.learn(Realm::kCouncil, 17, 1);
  EXPECT_EQ(refusal([&] { check.admit(councils_, slow, context_); }), ErrorCode::kUnauthenticated);
}

TEST_F(CallerCheckTest, OnlyAdmittedRequestsCountAgainstTheCallersLimit) {
  const CallerCheck check(tokens_, passwords_, writes(1));
  const auto asking = request(token());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(refusal([&] { check.identify(councils_, asking, context_); }), std::nullopt);
  EXPECT_EQ(refusal([&] { check.admit(councils_, asking, context_); }), std::nullopt);
  EXPECT_EQ(refusal([&] { check.admit(councils_, asking, context_); }), ErrorCode::kRateLimited);
}

}  // namespace festa::test
