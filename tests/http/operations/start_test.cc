#include "app/config/config_description.h"
#include "app/strategies/strategies.h"
#include "app/strategies/strategy_description.h"
#include "services/accounts/password_hasher.h"
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace festa::test {

namespace {

using testing::HasSubstr;

const Service::Settings kProduction{{"ENVIRONMENT", "production"}, {"DEMO", "false"}};

class StartTest : public testing::Test {
 protected:
  // A start that must fail and say why.
  void expectRefused(const Service::Settings& settings, const std::string& reason,
                     const std::string& config = "") const {
    const auto result = tryStart(database, settings, config);
    EXPECT_EQ(result.status, 1) << result.output;
    EXPECT_THAT(result.output, HasSubstr(reason));
  }
  void run(const std::string& script) const { PgSession(database).run(script); }
  // The program under test, as a running one tells.
  static const std::string& program() {
    static const std::string path = [] {
      Service service(sharedPg().createDatabase());
      return std::filesystem::read_symlink("/proc/" + std::to_string(service.process().pid()) +
                                           "/exe");
    }();
    return path;
  }
  // What the program prints before it ends well.
  static std::string outputOf(const std::vector<std::string>& arguments,
                              const std::map<std::string, std::string>& environment = {}) {
    const auto file = makeTemporaryFolder() + "/output";
    Command command{.arguments = {program()}, .environment = environment, .output = file};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(Process(command).wait(), 0);
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  const Config::Database database = sharedPg().createDatabase();
};

}  // namespace

TEST_F(StartTest, UnknownKeyIsNamed) {
  expectRefused({}, "'http.prot'", R"({"http":{"prot":8080}})");
  expectRefused({}, "'colour'", R"({"colour":"red"})");
  expectRefused({}, "'lock.lockables.announcement-pins.leas'",
                R"({"lock":{"lockables":{"announcement-pins":{"leas":1}}}})");
}

TEST_F(StartTest, UnknownVariableIsNamed) {
  expectRefused({{"HTTP_PROT", "8080"}}, "FESTA_HTTP_PROT");
  expectRefused({{"NONSENSE", ""}}, "FESTA_NONSENSE");
}

TEST_F(StartTest, ValuesOfTheWrongTypeAreNamed) {
  expectRefused({}, "'http.threads'", R"({"http":{"threads":"two"}})");
  expectRefused({}, "'demo'", R"({"demo":1})");
  expectRefused({}, "'http.cors_origins'", R"({"http":{"cors_origins":"https://a.example"}})");
  expectRefused({{"HTTP_THREADS", "2x"}}, "'http.threads'");
  expectRefused({{"HTTP_PORT", "65536"}}, "'http.port'");
  expectRefused({{"LAB", "yes"}}, "'lab'");
  expectRefused({{"LOG_LEVEL", "loud"}}, "'log_level'");
  expectRefused({{"ENVIRONMENT", "prod"}}, "'environment'");
}

TEST_F(StartTest, FileThatIsNoJsonObjectIsRefused) {
  expectRefused({}, "configuration", "{");
  expectRefused({}, "configuration", "[]");
}

TEST_F(StartTest, LeaseShorterThanTheTimeOutsIsNamed) {
  expectRefused({}, "'lock.lockables.announcement-pins.lease_ms'",
                R"({"lock":{"lockables":{"announcement-pins":{"lease_ms":500}}}})");
  expectRefused({{"DATABASE_STATEMENT_TIMEOUT_MS", "2000"}},
                "'lock.lockables.announcement-pins.lease_ms'");
}

TEST_F(StartTest, LongestHoldShorterThanTheLeaseIsNamed) {
  expectRefused({{"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_MAX_HOLD_MS", "2999"}},
                "'lock.lockables.announcement-pins.max_hold_ms'");
}

TEST_F(StartTest, LeaseMustOutlastTheTimeOutsEvenWhenItIsRenewed) {
  expectRefused({{"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_MAX_HOLD_MS", "60000"},
                 {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_LEASE_MS", "500"}},
                "'lock.lockables.announcement-pins.lease_ms'");
}

TEST_F(StartTest, ProductionRefusesTheLab) {
  expectRefused({{"ENVIRONMENT", "production"}, {"DEMO", "false"}, {"LAB", "true"}}, "'lab'");
}

TEST_F(StartTest, ProductionRefusesDemoData) {
  expectRefused({{"ENVIRONMENT", "production"}, {"DEMO", "true"}}, "'demo'");
}

TEST_F(StartTest, ShortSecretIsRefused) {
  expectRefused({{"AUTH_JWT_SECRET", std::string(31, 's')}}, "'auth.jwt_secret'");
}

TEST_F(StartTest, SecretHasNoDefaultOutsideTheDemo) {
  expectRefused({{"AUTH_JWT_SECRET", ""}, {"DEMO", "false"}}, "'auth.jwt_secret'");
}

TEST_F(StartTest, MemoryLocksAreRefusedForSeveralInstances) {
  expectRefused({{"LOCK_INSTANCES", "3"}}, "lock.instances is 3");
}

TEST_F(StartTest, StrategyNoneIsRefusedOutsideTheLab) {
  expectRefused({{"LOCK_STRATEGY", "none"}}, "'lock.strategy'");
  expectRefused({}, "'lock.lockables.announcement-pins.strategy'",
                R"({"lock":{"lockables":{"announcement-pins":{"strategy":"none"}}}})");
}

TEST_F(StartTest, UnknownStrategyIsNamed) {
  expectRefused({{"LOCK_STRATEGY", "wishful-thinking"}}, "wishful-thinking");
}

TEST_F(StartTest, UnknownLockableIsNamed) {
  expectRefused({}, "'lock.lockables.announcement-pin.wait_ms'",
                R"({"lock":{"lockables":{"announcement-pin":{"wait_ms":1}}}})");
}

TEST_F(StartTest, RedlockWithoutNodesIsRefused) {
  expectRefused({{"LOCK_STRATEGY", "redlock"}}, "set redlock.nodes");
}

TEST_F(StartTest, RedlockNodesThatMakeNoQuorumAreRefused) {
  for (const auto* nodes : {"127.0.0.1:1,127.0.0.1:2", "127.0.0.1:1,127.0.0.1:2,127.0.0.1:1"})
    expectRefused({{"REDLOCK_NODES", nodes}}, "'redlock.nodes'");
}

TEST_F(StartTest, LeaseLongerThanTheQuarantineOfRedlockIsRefused) {
  expectRefused(
      {{"REDLOCK_NODES", "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"}, {"REDLOCK_MAX_LEASE_MS", "2999"}},
      "'redlock.max_lease_ms' (2999)");
}

TEST_F(StartTest, FewerConnectionsThanThreadsAreRefused) {
  expectRefused({{"HTTP_THREADS", "4"}, {"DATABASE_CONNECTIONS", "3"}}, "'database.connections'");
}

TEST_F(StartTest, SecretsDoNotShowInTheReason) {
  const auto result = tryStart(
      database, {{"AUTH_JWT_SECRET", "short-but-secret"}, {"DATABASE_PASSWORD", "hidden-word"}});
  EXPECT_EQ(result.output.find("short-but-secret"), std::string::npos);
  EXPECT_EQ(result.output.find("hidden-word"), std::string::npos);
}

TEST_F(StartTest, ProductionStartsOnAnIntactDatabaseWithoutDemoData) {
  Service service(database, patient(kProduction));
  EXPECT_EQ(service.client().get("/readyz").status, 200);
  EXPECT_EQ(*PgSession(database).query("SELECT count(*) FROM councils")[0][0], "0");
}

TEST_F(StartTest, ProductionRefusesTheSecretOfTheDemo) {
  auto settings = kProduction;
  settings["AUTH_JWT_SECRET"] = "demo-secret-demo-secret-demo-secret";
  expectRefused(settings, "'auth.jwt_secret'");
}

TEST_F(StartTest, ProductionRefusesAccountsWithTheirDemoPasswords) {
  Service(database).stop();
  const auto refused = tryStart(database, kProduction);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.output, testing::AllOf(HasSubstr("admin, council1, council2, user1"),
                                             HasSubstr("97 more"), HasSubstr("delete")));
  EXPECT_EQ(refused.output.find("-demo-1"), std::string::npos) << "passwords do not belong here";
}

TEST_F(StartTest, ProductionRefusesASingleDemoPassword) {
  Service(database).stop();
  run("UPDATE users SET password_hash = 'x'; UPDATE councils SET password_hash = 'x' WHERE "
      "username "
      "<> 'council2'");
  expectRefused(kProduction, "council2");
}

TEST_F(StartTest, ProductionStartsWhenNoDemoPasswordIsLeft) {
  {
    Service demo(database, patient());
    auto client = demo.client();
    const auto changed =
        client.send("PATCH", "/councils/password",
                    R"({"currentPassword":"admin-demo-1","newPassword":"a-password-of-our-own"})",
                    demo.as("admin"));
    ASSERT_EQ(changed.status, 200) << changed.body;
    demo.stop();
  }
  run("DELETE FROM users; DELETE FROM councils WHERE username <> 'admin'");
  const Service service(database, patient(kProduction));
  EXPECT_EQ(service.client().get("/readyz").status, 200);
}

TEST_F(StartTest, ProductionAcceptsDemoNamesWithOtherPasswords) {
  run("INSERT INTO users (login, password_hash, name, age, email, phone) VALUES"
      " ('user1', '', 'n', 20, 'a@example.com', '0'), ('user2', 'junk', 'n', 20, 'a@example.com', "
      "'0')");
  PgSession(database).query(
      "INSERT INTO users (login, password_hash, name, age, email, phone)"
      " VALUES ('user3', $1, 'n', 20, 'a@example.com', '0')",
      {PasswordHasher::hashNow("a-password-of-my-own")});
  const Service service(database, patient(kProduction));
  EXPECT_EQ(service.client().get("/readyz").status, 200);
}

TEST_F(StartTest, ProductionRefusesADatabaseOfTheLab) {
  run("ALTER TABLE announcements DROP CONSTRAINT announcements_guarded");
  expectRefused(kProduction, "announcements_guarded");
}

TEST_F(StartTest, ProductionRefusesAConstraintThatWasNotValidated) {
  run("ALTER TABLE announcements DROP CONSTRAINT announcements_guarded;"
      "ALTER TABLE announcements ADD CONSTRAINT announcements_guarded CHECK (NOT unguarded) NOT "
      "VALID");
  expectRefused(kProduction, "announcements_guarded");
}

TEST_F(StartTest, DatabaseTheLabHasUsedIsRefusedByProductionLater) {
  { const Service lab(database, {{"LAB", "true"}}); }
  expectRefused(kProduction, "announcements_guarded");
}

TEST_F(StartTest, ADatabaseThatAcknowledgesTooEarlyIsRefused) {
  run("ALTER DATABASE " + database.name + " SET synchronous_commit = off");
  expectRefused({}, "synchronous_commit");
}

TEST_F(StartTest, ChangedMigrationStopsTheStart) {
  run("UPDATE schema_migrations SET checksum = 'another' WHERE version = 1");
  expectRefused({}, "V001");
}

TEST_F(StartTest, MissingOldMigrationStopsTheStart) {
  run("UPDATE schema_migrations SET version = (SELECT max(version) + 1 FROM schema_migrations) "
      "WHERE version = 1");
  expectRefused({}, "V001");
}

TEST_F(StartTest, SettingsAndStrategiesAreDescribedWithoutAnySetting) {
  EXPECT_EQ(outputOf({"--describe-config"}), describeConfig());
  EXPECT_EQ(outputOf({"strategies"}), describeStrategies());
  EXPECT_EQ(outputOf({"strategies", "--json"}), strategiesAsJson());
  EXPECT_THAT(outputOf({"--help"}),
              testing::AllOf(HasSubstr("--describe-config"), HasSubstr("strategies")));
}

TEST_F(StartTest, TheRecommendedStrategyDependsOnTheNumberOfInstances) {
  EXPECT_EQ(outputOf({"strategies", "--recommended", "1"}), recommendedStrategy(false).name + '\n');
  EXPECT_EQ(outputOf({"strategies", "--recommended", "3"}), recommendedStrategy(true).name + '\n');
}

TEST_F(StartTest, NeededServersAreNamedOneInEachLine) {
  const std::vector<std::string> ask{"strategies", "--needed"};
  EXPECT_EQ(outputOf(ask, {{"FESTA_DEMO", "true"}}), "");
  EXPECT_EQ(outputOf(ask, {{"FESTA_DEMO", "true"}, {"FESTA_LOCK_STRATEGY", "redlock"}}),
            "redlock\n");
  EXPECT_EQ(outputOf(ask, {{"FESTA_DEMO", "true"}, {"FESTA_LAB", "true"}}),
            "redis\nredlock\nrabbitmq\n");
}

TEST_F(StartTest, ThreeInstancesAtOnceMigrateOnce) {
  const auto binary = program();
  const auto fresh = sharedPg().createDatabase(false);
  const auto log = makeTemporaryFolder() + "/log";
  std::vector<int> ports;
  std::vector<std::unique_ptr<Process>> instances;
  for (int i = 0; i < 3; ++i) {
    ports.push_back(freePort());
    instances.push_back(std::make_unique<Process>(
        Command{.arguments = {binary},
                .environment = serviceEnvironment(fresh, ports.back(), {}),
                .output = log}));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(eventually([&] { return HttpClient(ports[i], 2).get("/readyz").status == 200; }))
        << i;
    EXPECT_TRUE(instances[i]->isRunning());
  }
  PgSession session(fresh);
  const auto versions = session.query(
      "SELECT version, count(*) FROM schema_migrations GROUP BY version ORDER BY version");
  ASSERT_FALSE(versions.empty());
  for (std::size_t i = 0; i < versions.size(); ++i)
    EXPECT_EQ(versions[i], (PgSession::Row{std::to_string(i + 1), "1"}));
  EXPECT_EQ(*session.query("SELECT count(*) FROM councils WHERE username = 'admin'")[0][0], "1");
}

TEST_F(StartTest, ATimezoneThatPostgresDoesNotKnowStopsIt) {
  const auto start = tryStart(sharedPg().createDatabase(), {{"TIMEZONE", "Asia/Soul"}});
  EXPECT_EQ(start.status, 1);
  EXPECT_NE(start.output.find("'timezone'"), std::string::npos) << start.output;
}

}  // namespace festa::test
