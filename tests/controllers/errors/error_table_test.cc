#include "controllers/errors/error_table.h"

#include "tests/controllers/errors/problem_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace festa::test {

TEST(ErrorTable, EveryCodeHasANameOfItsOwnAndAnErrorStatus) {
  std::set<std::string> names;
  for (const auto code : allCodes()) {
    const std::string name = nameOf(code);
    EXPECT_THAT(name, testing::MatchesRegex("[A-Z_]+"));
    EXPECT_TRUE(names.insert(name).second) << name;
    const auto status = rowOf(code).status;
    EXPECT_TRUE(status >= 400 && status <= 599) << name << ' ' << status;
  }
}

TEST(ErrorTable, CodesHaveTheStatusesThatClientsKnow) {
  const auto status = [](ErrorCode code) { return rowOf(code).status; };
  EXPECT_EQ(status(ErrorCode::kMalformedJson), 400);
  EXPECT_EQ(status(ErrorCode::kUnauthenticated), 401);
  EXPECT_EQ(status(ErrorCode::kForbidden), 403);
  EXPECT_EQ(status(ErrorCode::kAnnouncementNotFound), 404);
  EXPECT_EQ(status(ErrorCode::kMethodNotAllowed), 405);
  EXPECT_EQ(status(ErrorCode::kPinnedLimitExceeded), 409);
  EXPECT_EQ(status(ErrorCode::kBodyTooLarge), 413);
  EXPECT_EQ(status(ErrorCode::kUnsupportedMediaType), 415);
  EXPECT_EQ(status(ErrorCode::kValidationFailed), 422);
  EXPECT_EQ(status(ErrorCode::kInternal), 500);
  EXPECT_EQ(status(ErrorCode::kCommitUnconfirmed), 500) << "a client must not just repeat it";
  EXPECT_EQ(status(ErrorCode::kLockTimeout), 503);
}

TEST(ErrorTable, CodesAreFoundByTheirNames) {
  for (const auto code : allCodes()) EXPECT_EQ(errorCodeNamed(nameOf(code)), code);
  for (const auto* name : {"", "seat_busy", "NO_SUCH_CODE"})
    EXPECT_EQ(errorCodeNamed(name), std::nullopt) << name;
}

}  // namespace festa::test
