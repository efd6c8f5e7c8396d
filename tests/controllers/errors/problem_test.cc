#include "controllers/errors/problem.h"

#include "controllers/errors/error_table.h"
#include "controllers/http/request_context.h"
#include "controllers/json/json_body.h"
#include "lock/lockable.h"
#include "services/write/db_failure.h"
#include "services/write/transaction.h"
#include "tests/controllers/errors/problem_fixture.h"
#include "tests/support/http/silent_route.h"

#include <drogon/orm/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <trantor/utils/Logger.h>

#include <cstdio>

namespace festa::test {

using lock::LockOutcome;
using testing::HasSubstr;
using testing::Not;

namespace {

// Keeps the log of one test from the output and lets it be looked at.
class CapturedLog {
 public:
  CapturedLog() {
    trantor::Logger::setOutputFunction(
        [this](const char* text, std::uint64_t length) { text_.append(text, length); }, [] {});
  }
  ~CapturedLog() {
    trantor::Logger::setOutputFunction(
        [](const char* text, std::uint64_t length) { std::fwrite(text, 1, length, stdout); },
        [] { std::fflush(stdout); });
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string codeFor(const std::exception& error) {
  const CapturedLog log;
  return bodyOf(toResponse(request(), error))["code"].asString();
}

std::string codeForFailure(const std::string& text) {
  return codeFor(drogon::orm::Failure(text));
}

std::string refusalFor(LockOutcome outcome) {
  const lock::Lockable lockable{"pins", "pins:{path.id}"};
  return bodyOf(lockRefusal(request(), outcome, lockable))["code"].asString();
}

}  // namespace

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

TEST(ErrorMapping, AnUnexpectedExceptionIsLoggedAndNotShown) {
  const CapturedLog log;
  const auto response = toResponse(request(), std::runtime_error("secret text"));
  EXPECT_EQ(statusOf(response), 500);
  EXPECT_EQ(bodyOf(response)["code"].asString(), "INTERNAL");
  EXPECT_THAT(std::string(response->body()), Not(HasSubstr("secret text")));
  EXPECT_THAT(log.text(), HasSubstr("secret text"));
}

TEST(ErrorMapping, WhatTheClientDidWrongIsNotLogged) {
  const CapturedLog log;
  const auto response =
      toResponse(request(), ServiceError(ErrorCode::kPinnedLimitExceeded, "detail"));
  EXPECT_EQ(statusOf(response), 409);
  EXPECT_EQ(log.text(), "");
}

TEST(ErrorMapping, AServiceErrorKeepsItsCode) {
  for (const auto code : allCodes()) EXPECT_EQ(codeFor(ServiceError(code)), nameOf(code));
}

TEST(ErrorMapping, DatabaseFailuresAreToldApartByTheirText) {
  EXPECT_EQ(codeForFailure("ERROR:  canceling statement due to statement timeout"),
            "DATABASE_BUSY");
  EXPECT_EQ(codeForFailure("ERROR:  canceling statement due to lock timeout"), "LOCK_TIMEOUT");
  EXPECT_EQ(codeForFailure("ERROR:  canceling statement due to user request"), "DATABASE_BUSY");
  EXPECT_EQ(codeForFailure("Too many queries in buffer"), "OVERLOADED");
  EXPECT_EQ(codeForFailure("ERROR:  deadlock detected"), "LOCK_TIMEOUT");
  EXPECT_EQ(codeForFailure("ERROR:  could not serialize access due to concurrent update"),
            "LOCK_TIMEOUT");
  EXPECT_EQ(codeForFailure("ERROR:  new multixact has more than one updating member: 0 2[1, 2]"),
            "LOCK_TIMEOUT");
  EXPECT_EQ(codeForFailure("ERROR:  current transaction is aborted, commands ignored until end of "
                           "transaction block"),
            "LOCK_TIMEOUT");
  EXPECT_EQ(codeForFailure("server closed the connection unexpectedly"), "DATABASE_UNAVAILABLE");
  EXPECT_EQ(codeForFailure("FATAL:  terminating connection due to administrator command"),
            "DATABASE_UNAVAILABLE");
  EXPECT_EQ(codeForFailure("FATAL:  the database system is starting up"), "DATABASE_UNAVAILABLE");
  EXPECT_EQ(codeForFailure(""), "DATABASE_UNAVAILABLE");
  EXPECT_EQ(codeForFailure("ERROR:  relation \"x\" does not exist"), "INTERNAL");
  EXPECT_EQ(codeForFailure("ERROR:  duplicate key value violates unique constraint \"x\""),
            "INTERNAL");
}

TEST(ErrorMapping, ABrokenConnectionIsAnUnavailableDatabase) {
  EXPECT_EQ(codeFor(drogon::orm::BrokenConnection("whatever")), "DATABASE_UNAVAILABLE");
  EXPECT_EQ(codeFor(drogon::orm::TimeoutError("SQL execution timeout")), "DATABASE_UNAVAILABLE");
}

TEST(ErrorMapping, AFullPoolIsAnOverloadNotAnUnavailableDatabase) {
  const drogon::orm::TimeoutError unsent("No connection came free");
  const drogon::orm::TimeoutError late("A connection came free too late");
  EXPECT_EQ(codeFor(unsent), "OVERLOADED");
  EXPECT_EQ(codeFor(late), "OVERLOADED");
  EXPECT_TRUE(isUndone(unsent));
  EXPECT_FALSE(isUndone(late)) << "it was sent, and may be done yet";
}

TEST(ErrorMapping, TheTextOfADatabaseFailureIsNotSent) {
  const CapturedLog log;
  const auto response =
      toResponse(request(), drogon::orm::SqlError("ERROR: secret text", "SELECT 1"));
  EXPECT_THAT(std::string(response->body()), Not(HasSubstr("secret text")));
  EXPECT_THAT(log.text(), HasSubstr("secret text"));
}

TEST(ErrorMapping, AnUnknownCommitIsSaidToBeUnknown) {
  EXPECT_EQ(codeFor(CommitUnknown()), "COMMIT_UNCONFIRMED");
}

TEST(ErrorMapping, AMissingKeyVariableIsTheClientsFault) {
  const auto response = toResponse(request(), lock::MissingKeyVariable("path.id"));
  EXPECT_EQ(statusOf(response), 400);
  EXPECT_EQ(bodyOf(response)["code"].asString(), "INVALID_PARAMETER");
  EXPECT_EQ(bodyOf(response)["errors"][0]["field"].asString(), "id");
  EXPECT_EQ(bodyOf(response)["errors"][0]["in"].asString(), "path");
  const auto claim = toResponse(request(), lock::MissingKeyVariable("token.festivalId"));
  EXPECT_EQ(bodyOf(claim)["errors"][0]["field"].asString(), "Authorization");
}

TEST(ErrorMapping, WhatIsNotHttpIsSaidToBeTheRequest) {
  const auto response = refusalOf(request("en"), drogon::k400BadRequest);
  EXPECT_EQ(statusOf(response), 400);
  EXPECT_EQ(bodyOf(response)["message"].asString(), "request must be valid HTTP.");
  EXPECT_EQ(bodyOf(response)["errors"][0]["in"].asString(), "request");
}

TEST(ErrorMapping, ALockOutcomeBecomesItsErrorCode) {
  EXPECT_EQ(refusalFor(LockOutcome::kTimedOut), "LOCK_TIMEOUT");
  EXPECT_EQ(refusalFor(LockOutcome::kOverloaded), "OVERLOADED");
  EXPECT_EQ(refusalFor(LockOutcome::kClosed), "SHUTTING_DOWN");
  EXPECT_EQ(refusalFor(LockOutcome::kUnavailable), "LOCK_STORAGE_UNAVAILABLE");
}

TEST(ErrorMapping, ABusyLockSaysItsOwnCode) {
  lock::Lockable lockable{"seats", "seat:{path.id}"};
  const auto refusal = [&] {
    return bodyOf(lockRefusal(request(), LockOutcome::kBusy, lockable))["code"].asString();
  };
  EXPECT_EQ(refusal(), "LOCK_TIMEOUT") << "made to fail fast by configuration";
  lockable.busyCode = "SEAT_BUSY";
  EXPECT_EQ(refusal(), "SEAT_BUSY");
}

TEST(ErrorMapping, AnExceptionOfAnyTypeIsAnInternalError) {
  const CapturedLog log;
  const auto response = toResponse(request(), std::make_exception_ptr(42));
  EXPECT_EQ(bodyOf(response)["code"].asString(), "INTERNAL");
  EXPECT_THAT(log.text(), HasSubstr("not a std::exception"));
}

}  // namespace festa::test
