#include "app/config/lock_settings.h"

#include "controllers/announcements/announcement_controller.h"
#include "services/write/guarded_write.h"

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
  config.redlock.nodes = {{"127.0.0.1", 1}, {"127.0.0.1", 2}, {"127.0.0.1", 3}};
  return config;
}

// A lease of 4 s for pins, and time-outs whose longest attempt takes this long.
Config configWithAttemptOf(const std::string& strategy, milliseconds longest) {
  auto config = configOf(strategy);
  config.lock.lockables.at(kAnnouncementPins.name).lease = 4000ms;
  config.database.poolTimeout = 1000ms;
  config.database.statementTimeout = 300ms;
  config.database.commitTimeout = longest - 1000ms - 300ms * kLongestAttemptStatements;
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

// Those that take a lock, with or without followers under one hold.
std::vector<std::string> storages(bool withFollowers) {
  std::vector<std::string> names;
  for (const auto& row : strategyTable())
    if (row.takesLock() && row.storage->followers == withFollowers) names.push_back(row.name);
  return names;
}

// A hold of 4 s is trusted for 4000 - 42 ms. Its last follower may begin when it is 500 ms old.
constexpr auto kOnlyHolderHas = 3958ms;
constexpr auto kLastFollowerHas = 3458ms;

}  // namespace

TEST(LockSettings, LongestAttemptMustEndWithinTheTrustedPartOfTheLease) {
  for (const auto& strategy : storages(false)) {
    EXPECT_EQ(refusal(configWithAttemptOf(strategy, kOnlyHolderHas - 1ms)), "accepted") << strategy;
    for (const auto more : {0ms, 700ms})
      EXPECT_THAT(refusal(configWithAttemptOf(strategy, kOnlyHolderHas + more)),
                  HasSubstr("'lock.lockables.announcement-pins.lease_ms'"))
          << strategy;
  }
}

TEST(LockSettings, LongestAttemptMustEndWithinWhatTheLastFollowerHas) {
  for (const auto& strategy : storages(true)) {
    EXPECT_EQ(refusal(configWithAttemptOf(strategy, kLastFollowerHas - 1ms)), "accepted")
        << strategy;
    for (const auto more : {0ms, 700ms})
      EXPECT_THAT(refusal(configWithAttemptOf(strategy, kLastFollowerHas + more)),
                  HasSubstr("'lock.lockables.announcement-pins.lease_ms'"))
          << strategy;
  }
}

TEST(LockSettings, LabMayChooseAStorageWithFollowersForAnyLockWhereItsServersAre) {
  auto config = configWithAttemptOf("memory", kLastFollowerHas);
  config.lab = true;
  EXPECT_THAT(refusal(config), HasSubstr("'lock.lockables.announcement-pins.lease_ms'"));
  config.redis.host.clear();
  EXPECT_EQ(refusal(config), "accepted");
}

TEST(LockSettings, NeededServersAreThoseOfTheConfiguredStrategies) {
  EXPECT_EQ(neededServers(configOf("memory")), std::set<Needs>{});
  auto config = configOf("redlock");
  EXPECT_EQ(neededServers(config), std::set{Needs::kRedlock});
  config.redlock.nodes.clear();
  EXPECT_EQ(neededServers(config), std::set{Needs::kRedlock}) << "needed, configured or not";
  config.lock.lockables.at("coupons").strategy = "queue-rabbitmq";
  EXPECT_EQ(neededServers(config), (std::set{Needs::kRedlock, Needs::kRabbitMq}));
  config.lock.strategy = "redis-of-dreams";
  EXPECT_THROW(neededServers(config), ConfigError);
}

TEST(LockSettings, LabNeedsTheServersOfEveryStrategy) {
  auto config = configOf("memory");
  config.lab = true;
  EXPECT_EQ(neededServers(config), (std::set{Needs::kRedis, Needs::kRedlock, Needs::kRabbitMq}));
}

TEST(LockSettings, DefaultTimeOutsFitTheDefaultLeaseUnderEveryStorage) {
  for (const bool withFollowers : {false, true})
    for (const auto& strategy : storages(withFollowers)) {
      auto config = configOf(strategy);
      config.lab = true;
      EXPECT_NO_THROW(checkLocks(config)) << strategy;
    }
}

}  // namespace festa::test
