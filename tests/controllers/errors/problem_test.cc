#include "controllers/errors/problem.h"

#include "controllers/errors/error_table.h"
#include "controllers/http/request_context.h"
#include "tests/controllers/errors/problem_fixture.h"
#include "tests/support/http/silent_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

using testing::HasSubstr;
using testing::Not;

TEST(Problem, AProblemHasTheFieldsOfItsFormatAndThoseOfOurClients) {
  const auto response =
      problem(request(), ServiceError(ErrorCode::kPinnedLimitExceeded, "for the log"));
  EXPECT_EQ(response->contentTypeString(), "application/problem+json; charset=utf-8");
  const auto body = bodyOf(response);
  EXPECT_THAT(body.getMemberNames(),
              testing::UnorderedElementsAre("type", "title", "status", "detail", "instance", "code",
                                            "message"));
  EXPECT_EQ(body["type"].asString(), "about:blank");
  EXPECT_EQ(body["title"].asString(), "PINNED_LIMIT_EXCEEDED");
  EXPECT_EQ(body["status"].asInt(), 409);
  EXPECT_EQ(body["instance"].asString(), "/announcements/7");
  EXPECT_EQ(body["code"].asString(), "PINNED_LIMIT_EXCEEDED");
  EXPECT_EQ(body["message"].asString(), "공지는 최대 3개까지 고정할 수 있습니다.");
}

TEST(Problem, EveryProblemAgreesWithItselfAndSpeaksBothLanguages) {
  for (const auto code : allCodes()) {
    for (const auto* language : {"ko", "en"}) {
      const auto response = problem(request(language), ServiceError(code));
      const auto body = bodyOf(response);
      EXPECT_EQ(body["status"].asInt(), statusOf(response)) << nameOf(code);
      EXPECT_EQ(body["message"], body["detail"]) << nameOf(code);
      EXPECT_EQ(body["code"].asString(), nameOf(code));
      EXPECT_NE(body["detail"].asString(), "");
    }
    EXPECT_NE(detail(code, "ko"), detail(code, "en")) << nameOf(code);
  }
}

TEST(Problem, KoreanIsSpokenUnlessEnglishIsAskedFor) {
  const auto korean = detail(ErrorCode::kUnauthenticated);
  EXPECT_EQ(korean, "로그인이 필요합니다.");
  for (const auto* languages : {"ko", "ko-KR,ko;q=0.9,en;q=0.8", "fr", "*", "en;q=0.1, ko;q=0.9"})
    EXPECT_EQ(detail(ErrorCode::kUnauthenticated, languages), korean) << languages;
  for (const auto* languages : {"en", "en-US,en;q=0.9,ko;q=0.8", "fr,en;q=0.5", "EN", "ko;q=0, en"})
    EXPECT_EQ(detail(ErrorCode::kUnauthenticated, languages), "Please log in.") << languages;
}

TEST(Problem, WhatIsOnlyForTheLogIsNotSent) {
  for (const auto code : allCodes())
    EXPECT_THAT(std::string(problem(request(), ServiceError(code, "secret text"))->body()),
                Not(HasSubstr("secret text")));
}

TEST(Problem, CodesThatMayBeRepeatedHaveRetryAfter) {
  for (const auto code : allCodes()) {
    const auto response = problem(request(), ServiceError(code));
    const bool mayBeRepeated = statusOf(response) == 503 || statusOf(response) == 429 ||
                               code == ErrorCode::kSeatBusy ||
                               code == ErrorCode::kRequestInProgress;
    EXPECT_EQ(!response->getHeader("retry-after").empty(), mayBeRepeated) << nameOf(code);
  }
}

TEST(Problem, UnauthenticatedHasWwwAuthenticate) {
  for (const auto code : allCodes()) {
    const auto response = problem(request(), ServiceError(code));
    EXPECT_EQ(response->getHeader("www-authenticate") == "Bearer", statusOf(response) == 401)
        << nameOf(code);
  }
}

TEST(Problem, AFailedValidationNamesItsFieldsInTheRightLanguage) {
  const ServiceError error({{"title", "비어 있을 수 없습니다.", "must not be blank"},
                            {"id\"", "틀렸습니다.", "is wrong"}});
  const auto korean = bodyOf(problem(request(), error));
  EXPECT_EQ(korean["code"].asString(), "VALIDATION_FAILED");
  ASSERT_EQ(korean["errors"].size(), 2U);
  EXPECT_EQ(korean["errors"][0]["field"].asString(), "title");
  EXPECT_EQ(korean["errors"][0]["message"].asString(), "비어 있을 수 없습니다.");
  EXPECT_EQ(korean["errors"][1]["field"].asString(), "id\"");
  const auto english = bodyOf(problem(request("en"), error));
  EXPECT_EQ(english["errors"][0]["message"].asString(), "must not be blank");
}

TEST(Problem, TheInstanceIsTextWhateverThePathHolds) {
  const auto odd = drogon::HttpRequest::newHttpRequest();
  odd->setPath("/\xff\n\"");
  const std::string body(problem(odd, ServiceError(ErrorCode::kRouteNotFound))->body());
  EXPECT_NE(body.find(R"("instance":"/%FF%0A\"")"), std::string::npos) << body;
}

TEST(Problem, HasTheEnvelopesMetaIfItsRouteHasOne) {
  for (const bool isEnveloped : {true, false}) {
    const auto route = silentRoute(drogon::Post, "/announcements/{id}", isEnveloped);
    const auto asking = request("en");
    attachContext(asking).match.route = route.get();
    const auto body = bodyOf(problem(asking, ServiceError(ErrorCode::kSeatBusy)));
    ASSERT_EQ(body.isMember("meta"), isEnveloped);
    if (!isEnveloped) continue;
    EXPECT_EQ(body["meta"]["result"].asString(), "fail");
    EXPECT_EQ(body["meta"]["errorCode"].asString(), "seat-busy");
    EXPECT_EQ(body["meta"]["errorMessage"], body["message"]);
  }
}

}  // namespace festa::test
