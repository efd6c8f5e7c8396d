#include "app/lock_settings.h"

#include "controllers/announcement_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using namespace std::chrono_literals;

// With what every configuration needs, on a machine of any size.
Config configOf(const std::string& strategy) {
  Config config = readConfig("", {{"FESTA_AUTH_JWT_SECRET", std::string(32, 's')},
                                  {"FESTA_HTTP_THREADS", "2"},
                                  {"FESTA_LOCK_STRATEGY", strategy}});
  config.redis.host = "127.0.0.1";
  return config;
}

// A lease of 4 s for pins, and time-outs whose longest path takes this long.
Config configWithPathOf(const std::string& strategy, milliseconds longest) {
  auto config = configOf(strategy);
  config.lock.lockables.at(kAnnouncementPins.name).lease = 4000ms;
  config.database.poolTimeout = 1000ms;
  config.database.statementTimeout = 300ms;
  config.database.commitTimeout = longest - 1000ms - 300ms * kLongestPathStatements;
  return config;
}

std::string refusal(const Config& config) {
  try {
    configuredLock(config, kAnnouncementPins);
    return "accepted";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

// A hold of 4 s is trusted for 4000 - 42 ms. Its last follower may begin when it is 500 ms old.
constexpr auto kOnlyHolderHas = 3958ms;
constexpr auto kLastFollowerHas = 3458ms;

}  // namespace

TEST(LockSettings, LongestPathMustEndWithinTheTrustedPartOfTheLease) {
  for (const auto* strategy : {"memory", "redis-spin", "redis-pubsub"}) {
    EXPECT_EQ(refusal(configWithPathOf(strategy, kOnlyHolderHas - 1ms)), "accepted") << strategy;
    EXPECT_THAT(refusal(configWithPathOf(strategy, kOnlyHolderHas)),
                HasSubstr("'lock.lockables.announcement-pins.lease_ms'"))
        << strategy;
  }
}

TEST(LockSettings, LongestPathMustEndWithinWhatTheLastFollowerOfRedisFairHas) {
  EXPECT_EQ(refusal(configWithPathOf("redis-fair", kLastFollowerHas - 1ms)), "accepted");
  EXPECT_THAT(refusal(configWithPathOf("redis-fair", kLastFollowerHas)),
              HasSubstr("'lock.lockables.announcement-pins.lease_ms'"));
}

TEST(LockSettings, LabWithRedisMayChooseRedisFairForAnyLock) {
  auto config = configWithPathOf("memory", kLastFollowerHas);
  config.lab = true;
  EXPECT_THAT(refusal(config), HasSubstr("'lock.lockables.announcement-pins.lease_ms'"));
  config.redis.host.clear();
  EXPECT_EQ(refusal(config), "accepted");
}

TEST(LockSettings, DefaultTimeOutsFitTheDefaultLeaseUnderEveryStorage) {
  for (const auto* strategy : {"memory", "redis-spin", "redis-pubsub", "redis-fair"}) {
    auto config = configOf(strategy);
    config.lab = true;
    EXPECT_NO_THROW(checkLocks(config)) << strategy;
  }
}

}  // namespace festa::test
