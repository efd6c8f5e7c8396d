#include "services/accounts/verified_tokens.h"

#include <gtest/gtest.h>

namespace festa {

namespace {

Caller named(const std::string& login) {
  return {login, 7, Realm::kUser, std::nullopt, {"ROLE_USER"}};
}

constexpr std::time_t kNow = 1000;

}  // namespace

TEST(VerifiedTokens, AreFoundByTheWholeTokenOnly) {
  VerifiedTokens tokens(100);
  tokens.add("head.body.signature", named("kim"), kNow + 1);
  const auto caller = tokens.find("head.body.signature", kNow);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->login, "kim");
  EXPECT_EQ(caller->uid, 7);
  EXPECT_TRUE(caller->hasRole("ROLE_USER"));
  for (const auto* other : {"head.body.signaturf", "head.body.signature ", "head.body.", ""})
    EXPECT_FALSE(tokens.find(other, kNow)) << other;
}

TEST(VerifiedTokens, ExpireEveryTimeTheyAreAskedFor) {
  VerifiedTokens tokens(100);
  tokens.add("t", named("kim"), kNow);
  EXPECT_TRUE(tokens.find("t", kNow - 1));
  EXPECT_FALSE(tokens.find("t", kNow));
  EXPECT_EQ(tokens.size(), 0U);
}

TEST(VerifiedTokens, OldOnesExpireToo) {
  VerifiedTokens tokens(4);
  tokens.add("t", named("kim"), kNow);
  tokens.add("1", named("lee"), kNow);
  tokens.add("2", named("lee"), kNow);
  EXPECT_FALSE(tokens.find("t", kNow));
}

TEST(VerifiedTokens, StayWithinTheirBoundAndKeepUsedTokens) {
  VerifiedTokens tokens(10);
  tokens.add("often", named("kim"), kNow + 1);
  for (int i = 0; i < 1000; ++i) {
    tokens.add(std::to_string(i), named("lee"), kNow + 1);
    EXPECT_LE(tokens.size(), 10U);
    EXPECT_TRUE(tokens.find("often", kNow)) << i;
  }
  EXPECT_FALSE(tokens.find("0", kNow));
}

TEST(VerifiedTokens, KeepNothingWithoutRoom) {
  VerifiedTokens tokens(0);
  tokens.add("t", named("kim"), kNow + 1);
  EXPECT_FALSE(tokens.find("t", kNow));
}

}  // namespace festa
