#include "services/accounts/password_versions.h"

#include "tests/support/test_time.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using std::chrono::hours;
using std::chrono::minutes;

Caller with(Realm realm, std::int64_t uid, std::int64_t version) {
  return {"x", uid, realm, std::nullopt, {}, version};
}

Caller council(std::int64_t version) {
  return with(Realm::kCouncil, 7, version);
}

class PasswordVersionsTest : public testing::Test {
 protected:
  PasswordVersions::Clock::time_point now{hours(1)};
  PasswordVersions versions{hours(24), timeBy([this] { return now; })};
};

}  // namespace

TEST_F(PasswordVersionsTest, TokensOfAccountsWithoutAChangeAreCurrent) {
  EXPECT_TRUE(versions.isCurrent(council(0)));
  EXPECT_TRUE(versions.isCurrent(council(5)));
}

TEST_F(PasswordVersionsTest, EarlierVersionsAreNotCurrentAndLaterOnesAre) {
  versions.learn(Realm::kCouncil, 7, 2);
  EXPECT_FALSE(versions.isCurrent(council(0)));
  EXPECT_FALSE(versions.isCurrent(council(1)));
  EXPECT_TRUE(versions.isCurrent(council(2)));
  EXPECT_TRUE(versions.isCurrent(council(3))) << "issued by a process that knows more";
}

TEST_F(PasswordVersionsTest, RealmsAndAccountsAreApart) {
  versions.learn(Realm::kCouncil, 7, 1);
  EXPECT_TRUE(versions.isCurrent(with(Realm::kUser, 7, 0)));
  EXPECT_TRUE(versions.isCurrent(with(Realm::kCouncil, 8, 0)));
}

// A look at the database may have begun before a change that this process made itself.
TEST_F(PasswordVersionsTest, AnOlderVersionChangesNothing) {
  versions.learn(Realm::kCouncil, 7, 2);
  versions.learn(Realm::kCouncil, 7, 1);
  EXPECT_FALSE(versions.isCurrent(council(1)));
}

TEST_F(PasswordVersionsTest, AccountsAreForgottenWhenTheirOlderTokensHaveExpired) {
  versions.learn(Realm::kCouncil, 7, 1);
  now += hours(24);
  versions.forgetExpired();
  EXPECT_FALSE(versions.isCurrent(council(0))) << "clocks differ by some minutes";
  EXPECT_EQ(versions.size(), 1U);
  now += minutes(10);
  versions.forgetExpired();
  EXPECT_EQ(versions.size(), 0U);
}

TEST_F(PasswordVersionsTest, AFurtherChangeProlongsTheMemoryAndALookDoesNot) {
  versions.learn(Realm::kCouncil, 7, 1);
  now += hours(20);
  versions.learn(Realm::kCouncil, 7, 1);
  now += hours(5);
  versions.forgetExpired();
  EXPECT_EQ(versions.size(), 0U);
  versions.learn(Realm::kCouncil, 7, 2);
  now += hours(20);
  versions.learn(Realm::kCouncil, 7, 3);
  now += hours(20);
  versions.forgetExpired();
  EXPECT_FALSE(versions.isCurrent(council(2)));
}

TEST_F(PasswordVersionsTest, AnAccountTakesOnePlaceHoweverOftenItChanges) {
  for (int version = 1; version <= 1000; ++version) versions.learn(Realm::kUser, 7, version);
  EXPECT_EQ(versions.size(), 1U);
}

}  // namespace festa::test
