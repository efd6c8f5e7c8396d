#include "app/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace festa::test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;
using Variables = std::map<std::string, std::string>;

namespace {

const std::string kSecret(32, 's');

// With what every configuration needs, on a machine of any size.
Config read(const std::string& json, Variables variables = {}) {
  variables.emplace("FESTA_AUTH_JWT_SECRET", kSecret);
  variables.emplace("FESTA_HTTP_THREADS", "2");
  return readConfig(json, variables);
}

std::string refusal(const std::string& json, const Variables& variables = {}) {
  try {
    read(json, variables);
    return "accepted";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string pinsJson(const std::string& members) {
  return R"({"lock": {"lockables": {"announcement-pins": {)" + members + "}}}}";
}

// Empty when there is no such section.
LockOverride pins(const Config& config) {
  const auto found = config.lock.lockables.find("announcement-pins");
  return found != config.lock.lockables.end() ? found->second : LockOverride{};
}

}  // namespace

TEST(Config, DefaultsNeedNothingButASecret) {
  const auto config = read("");
  EXPECT_EQ(config.environment, "development");
  EXPECT_FALSE(config.isProduction());
  EXPECT_FALSE(config.lab);
  EXPECT_FALSE(config.demo);
  EXPECT_EQ(config.timezone, "Asia/Seoul");
  EXPECT_EQ(config.http.address, "127.0.0.1");
  EXPECT_EQ(config.http.port, 8080);
  EXPECT_EQ(config.http.maxBodyBytes, 1024U * 1024);
  EXPECT_THAT(config.http.corsOrigins, IsEmpty());
  EXPECT_EQ(config.database.connections, 32U);
  EXPECT_EQ(config.auth.tokenLife, 24h);
  EXPECT_EQ(config.lock.strategy, "memory");
  EXPECT_EQ(config.lock.instances, 1U);
}

TEST(Config, AnEmptyObjectIsTheSameAsNoFile) {
  EXPECT_EQ(read("{}").http.port, read("").http.port);
  EXPECT_EQ(read("{\"http\": {}}").http.port, 8080);
}

TEST(Config, JsonSetsValuesOfEveryType) {
  const auto config = read(R"({
    // which machine this is
    "environment": "production", "log_level": "debug",
    "http": {"port": 9000, "cors_origins": ["https://a.example", "https://b.example"]},
    "database": {"host": "db", "connections": 7},
    "lock": {"strategy": "pg-constraint", "max_waiters": 0}
  })");
  EXPECT_TRUE(config.isProduction());
  EXPECT_EQ(config.logLevel, "debug");
  EXPECT_EQ(config.http.port, 9000);
  EXPECT_THAT(config.http.corsOrigins, ElementsAre("https://a.example", "https://b.example"));
  EXPECT_EQ(config.database.host, "db");
  EXPECT_EQ(config.database.connections, 7U);
  EXPECT_EQ(config.lock.strategy, "pg-constraint");
  EXPECT_EQ(config.lock.maxWaiters, 0U);
}

TEST(Config, VariablesOverrideJson) {
  const auto config = read(R"({"demo": true, "http": {"port": 9000, "cors_origins": ["x"]}})",
                           {{"FESTA_HTTP_PORT", "9001"},
                            {"FESTA_HTTP_CORS_ORIGINS", "https://a.example,,https://b.example"},
                            {"FESTA_DATABASE_PASSWORD", "p=a,ss"},
                            {"FESTA_HTTP_MAX_BODY_BYTES", "2048"},
                            {"FESTA_DEMO", "false"},
                            {"FESTA_LAB", "true"}});
  EXPECT_EQ(config.http.port, 9001);
  EXPECT_THAT(config.http.corsOrigins, ElementsAre("https://a.example", "https://b.example"));
  EXPECT_EQ(config.database.password, "p=a,ss");
  EXPECT_EQ(config.http.maxBodyBytes, 2048U);
  EXPECT_FALSE(config.demo);
  EXPECT_TRUE(config.lab);
}

TEST(Config, MetricsHaveAListenerOfTheirOwnWhenTheyHaveAPort) {
  EXPECT_EQ(read("").metrics.port, 0);
  const auto config = read(R"({"metrics": {"port": 9100, "address": "10.0.0.1"}})");
  EXPECT_EQ(config.metrics.port, 9100);
  EXPECT_EQ(config.metrics.address, "10.0.0.1");
  EXPECT_THAT(refusal(R"({"metrics": {"port": 8080}})"), HasSubstr("'metrics.port'"));
  EXPECT_THAT(refusal(R"({"metrics": {"address": "127.0.0.1"}})"),
              AllOf(HasSubstr("'metrics.address'"), HasSubstr("metrics.port")));
}

TEST(Config, AnUnknownKeyIsRefusedByName) {
  EXPECT_THAT(refusal(R"({"colour": "red"})"), HasSubstr("'colour'"));
  EXPECT_THAT(refusal(R"({"http": {"prot": 1}})"), HasSubstr("'http.prot'"));
}

TEST(Config, AnUnknownVariableIsRefusedByName) {
  EXPECT_THAT(refusal("", {{"FESTA_HTTP_PROT", "1"}}), HasSubstr("FESTA_HTTP_PROT"));
  EXPECT_THAT(refusal("", {{"FESTA_", ""}}), HasSubstr("FESTA_"));
}

TEST(Config, AWrongTypeIsRefusedByName) {
  EXPECT_THAT(refusal(R"({"http": {"port": "8080"}})"), HasSubstr("'http.port'"));
  EXPECT_THAT(refusal(R"({"http": {"port": 8080.0}})"), HasSubstr("'http.port'"));
  EXPECT_THAT(refusal(R"({"http": {"port": null}})"), HasSubstr("'http.port'"));
  EXPECT_THAT(refusal(R"({"http": {"port": 99999999999999999999}})"), HasSubstr("'http.port'"));
  EXPECT_THAT(refusal(R"({"lab": "true"})"), HasSubstr("'lab'"));
  EXPECT_THAT(refusal(R"({"lab": 1})"), HasSubstr("'lab'"));
  EXPECT_THAT(refusal(R"({"timezone": 9})"), HasSubstr("'timezone'"));
  EXPECT_THAT(refusal(R"({"http": {"cors_origins": "*"}})"), HasSubstr("'http.cors_origins'"));
  EXPECT_THAT(refusal(R"({"http": {"cors_origins": [1]}})"), HasSubstr("'http.cors_origins'"));
  EXPECT_THAT(refusal(R"({"http": 1})"), HasSubstr("'http'"));
}

TEST(Config, AVariableOfTheWrongTypeIsRefusedByName) {
  for (const auto* text : {"", "x", "80x", " 80", "8080.0", "0x50", "99999999999999999999"})
    EXPECT_THAT(refusal("", {{"FESTA_HTTP_PORT", text}}), HasSubstr("'http.port'")) << text;
  for (const auto* text : {"", "1", "yes", "TRUE"})
    EXPECT_THAT(refusal("", {{"FESTA_LAB", text}}), HasSubstr("'lab'")) << text;
}

TEST(Config, ANumberOutOfRangeIsRefusedWithItsRange) {
  EXPECT_THAT(refusal(R"({"http": {"port": 0}})"),
              AllOf(HasSubstr("'http.port'"), HasSubstr("from 1 to 65535"), HasSubstr("not 0")));
  EXPECT_THAT(refusal("", {{"FESTA_HTTP_PORT", "65536"}}), HasSubstr("'http.port'"));
  EXPECT_THAT(refusal("", {{"FESTA_HTTP_PORT", "-1"}}), HasSubstr("'http.port'"));
  EXPECT_THAT(refusal(R"({"database": {"connections": 0}})"), HasSubstr("'database.connections'"));
  EXPECT_EQ(read("", {{"FESTA_HTTP_PORT", "65535"}}).http.port, 65535);
}

TEST(Config, TextThatIsNotAJsonObjectIsRefused) {
  for (const auto* json : {"[]", "1", "{", "{} x", "{'lab': true}", "{\"lab\":true,\"lab\":false}"})
    EXPECT_THAT(refusal(json), HasSubstr("not a JSON object")) << json;
}

TEST(Config, UnknownNamesOfEnvironmentsAndLogLevelsAreRefused) {
  EXPECT_THAT(refusal("", {{"FESTA_ENVIRONMENT", "prod"}}), HasSubstr("'environment'"));
  EXPECT_THAT(refusal("", {{"FESTA_LOG_LEVEL", "INFO"}}), HasSubstr("'log_level'"));
}

TEST(Config, ThePrefixOfPathsIsAPathOrNothing) {
  EXPECT_EQ(read("").http.apiPrefix, "/api");
  for (const auto* prefix : {"", "/api", "/v1", "/festa/v1", "/a-b_c"})
    EXPECT_EQ(read("", {{"FESTA_HTTP_API_PREFIX", prefix}}).http.apiPrefix, prefix);
  for (const auto* prefix : {"api", "/", "/api/", "//api", "/a//b", "/a b", "/a?b", "/a%62", "/a#",
                             "/..", "/.", "/{id}", "/é"})
    EXPECT_THAT(refusal("", {{"FESTA_HTTP_API_PREFIX", prefix}}), HasSubstr("'http.api_prefix'"))
        << prefix;
}

TEST(Config, ProductionRefusesLabAndDemo) {
  const Variables production{{"FESTA_ENVIRONMENT", "production"}};
  EXPECT_EQ(refusal("", production), "accepted");
  EXPECT_THAT(refusal(R"({"lab": true})", production), HasSubstr("'lab'"));
  EXPECT_THAT(refusal(R"({"demo": true})", production), HasSubstr("'demo'"));
  EXPECT_EQ(refusal(R"({"lab": true, "demo": true})"), "accepted");
}

TEST(Config, AShortSecretIsRefusedAndNotRepeated) {
  EXPECT_THAT(refusal("", {{"FESTA_AUTH_JWT_SECRET", ""}}), HasSubstr("'auth.jwt_secret'"));
  const std::string shortSecret(31, 'q');
  EXPECT_THAT(refusal("", {{"FESTA_AUTH_JWT_SECRET", shortSecret}}),
              AllOf(HasSubstr("'auth.jwt_secret'"), testing::Not(HasSubstr("qq"))));
  EXPECT_EQ(read("").auth.jwtSecret, kSecret);
}

TEST(Config, ProductionRefusesTheSecretOfTheDemo) {
  const auto known =
      read("", {{"FESTA_DEMO", "true"}, {"FESTA_AUTH_JWT_SECRET", ""}}).auth.jwtSecret;
  EXPECT_EQ(refusal("", {{"FESTA_AUTH_JWT_SECRET", known}}), "accepted") << "outside production";
  const auto text =
      refusal("", {{"FESTA_ENVIRONMENT", "production"}, {"FESTA_AUTH_JWT_SECRET", known}});
  EXPECT_THAT(text, AllOf(HasSubstr("'auth.jwt_secret'"), HasSubstr("openssl rand"),
                          testing::Not(HasSubstr(known))));
}

TEST(Config, OnlyADemoGetsASecretOfItsOwn) {
  const Variables demo{{"FESTA_DEMO", "true"}, {"FESTA_AUTH_JWT_SECRET", ""}};
  EXPECT_GE(read("", demo).auth.jwtSecret.size(), 32U);
  EXPECT_EQ(read("", {{"FESTA_DEMO", "true"}}).auth.jwtSecret, kSecret);
  EXPECT_THAT(refusal("", {{"FESTA_DEMO", "true"}, {"FESTA_AUTH_JWT_SECRET", "short"}}),
              HasSubstr("'auth.jwt_secret'"));
}

TEST(Config, LockablesAreReadByNameAndWhatIsNotSetStaysOpen) {
  const auto times = pins(read(pinsJson(R"("wait_ms": 0, "lease_ms": 3000)")));
  EXPECT_EQ(times.strategy, "");
  EXPECT_EQ(times.wait, 0ms);
  EXPECT_EQ(times.lease, 3000ms);
  EXPECT_EQ(times.maxHold, std::nullopt);
  EXPECT_EQ(pins(read(pinsJson(R"("max_hold_ms": 0)"))).maxHold, 0ms);
  const auto strategy = pins(read(pinsJson(R"("strategy": "pg-constraint")")));
  EXPECT_EQ(strategy.strategy, "pg-constraint");
  EXPECT_EQ(strategy.wait, std::nullopt);
  EXPECT_EQ(strategy.lease, std::nullopt);
  EXPECT_EQ(pins(read("")).strategy, "");
  EXPECT_EQ(pins(read("")).wait, std::nullopt);
}

TEST(Config, VariablesOverrideLockables) {
  const Variables variables{{"FESTA_LOCK_LOCKABLES_ANNOUNCEMENT_PINS_LEASE_MS", "1500"}};
  EXPECT_EQ(pins(read("", variables)).lease, 1500ms);
  EXPECT_EQ(pins(read(pinsJson(R"("lease_ms": 3000)"), variables)).lease, 1500ms);
}

TEST(Config, WrongLockablesAreRefusedByName) {
  EXPECT_THAT(refusal(pinsJson(R"("lease_ms": "3s")")), HasSubstr("announcement-pins.lease_ms'"));
  EXPECT_THAT(refusal(pinsJson(R"("wait_ms": -2)")), HasSubstr("announcement-pins.wait_ms'"));
  EXPECT_THAT(refusal(pinsJson(R"("max_hold_ms": -1)")),
              HasSubstr("announcement-pins.max_hold_ms'"));
  EXPECT_THAT(refusal(pinsJson(R"("wait": 1)")), HasSubstr("announcement-pins.wait'"));
  EXPECT_THAT(refusal(R"({"lock": {"lockables": {"nobody": {"wait_ms": 1}}}})"),
              HasSubstr("'lock.lockables.nobody.wait_ms'"));
  EXPECT_THAT(refusal(R"({"lock": {"lockables": {"announcement-pins": 5}}})"),
              HasSubstr("'lock.lockables.announcement-pins'"));
}

TEST(Config, RedlockNodesAreAListOfAddresses) {
  EXPECT_THAT(read("").redlock.nodes, IsEmpty());
  const auto json = read(R"({"redlock": {"nodes": ["10.0.0.1:1", "10.0.0.1:2", "10.0.0.2:65535"],
                                         "max_lease_ms": 4000}})");
  ASSERT_EQ(json.redlock.nodes.size(), 3U);
  EXPECT_EQ(json.redlock.nodes[2].host, "10.0.0.2");
  EXPECT_EQ(json.redlock.nodes[2].port, 65535);
  EXPECT_EQ(json.redlock.maxLease, 4000ms);
  const auto variables = read("", {{"FESTA_REDLOCK_NODES", "a:1,b:1,c:1,d:1,e:1"}});
  ASSERT_EQ(variables.redlock.nodes.size(), 5U);
  EXPECT_EQ(variables.redlock.nodes[4].text(), "e:1");
}

TEST(Config, RedlockNodesThatMakeNoQuorumAreRefused) {
  for (const auto* nodes : {"a:1", "a:1,b:1", "a:1,b:1,c:1,d:1", "a:1,b:1,c:1,d:1,e:1,f:1"})
    EXPECT_THAT(refusal("", {{"FESTA_REDLOCK_NODES", nodes}}),
                AllOf(HasSubstr("'redlock.nodes'"), HasSubstr("odd")))
        << nodes;
  EXPECT_THAT(refusal("", {{"FESTA_REDLOCK_NODES", "a:1,b:1,a:1"}}),
              AllOf(HasSubstr("'redlock.nodes'"), HasSubstr("a:1 more than once")));
}

TEST(Config, RedlockNodesThatAreNoAddressesAreRefused) {
  for (const auto* node : {"a", "a:", ":1", "a:x", "a:0", "a:65536", "a:1 "})
    EXPECT_THAT(refusal("", {{"FESTA_REDLOCK_NODES", std::string("b:1,c:1,") + node}}),
                HasSubstr("'redlock.nodes'"))
        << node;
  EXPECT_THAT(refusal(R"({"redlock": {"nodes": "a:1,b:1,c:1"}})"), HasSubstr("'redlock.nodes'"));
}

TEST(Config, EveryThreadNeedsAConnection) {
  const Variables threads{{"FESTA_HTTP_THREADS", "8"}};
  EXPECT_THAT(refusal(R"({"database": {"connections": 7}})", threads),
              AllOf(HasSubstr("'database.connections'"), HasSubstr("8")));
  EXPECT_EQ(refusal(R"({"database": {"connections": 8}})", threads), "accepted");
}

TEST(Config, ThreadsAndHoldersFollowTheMachineAndTheConnectionsUnlessSet) {
  EXPECT_GE(Config().ioThreads(), 1U);
  EXPECT_EQ(read("", {{"FESTA_HTTP_THREADS", "3"}}).ioThreads(), 3U);
  EXPECT_EQ(read("", {{"FESTA_DATABASE_CONNECTIONS", "5"}}).inFlightLimit(), 276U);
  EXPECT_EQ(read("", {{"FESTA_HTTP_MAX_IN_FLIGHT", "3"}}).inFlightLimit(), 3U);
}

TEST(Config, TheEnvironmentGivesOnlyVariablesOfOurs) {
  ::setenv("FESTA_TEST_VARIABLE", "a=b", 1);
  ::setenv("FESTIVAL", "no", 1);
  const auto variables = festaEnvironment();
  ::unsetenv("FESTA_TEST_VARIABLE");
  ::unsetenv("FESTIVAL");
  EXPECT_EQ(variables.at("FESTA_TEST_VARIABLE"), "a=b");
  EXPECT_FALSE(variables.contains("FESTIVAL"));
  EXPECT_FALSE(festaEnvironment().contains("FESTA_TEST_VARIABLE"));
}

TEST(Config, AnEmptySectionIsNotOverlooked) {
  for (const auto* json : {R"({"htpp":{}})", R"({"lab":{}})", R"({"http":{"port":{}}})"})
    EXPECT_THROW(readConfig(json, {{"FESTA_DEMO", "true"}}), ConfigError) << json;
}

TEST(Config, NestingWithoutEndIsAConfigError) {
  const std::string deep(5000, '[');
  EXPECT_THROW(readConfig("{\"a\":" + deep, {{"FESTA_DEMO", "true"}}), ConfigError);
}

}  // namespace festa::test
