#include "tests/support/servers/service.h"

#include "services/accounts/token_service.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace festa::test {

namespace {

// The service that was built, or another one with the same tests: FESTABOOK.
std::string festabook() {
  const char* const other = std::getenv("FESTABOOK");
  return other == nullptr ? FESTABOOK_BINARY : other;
}

const std::string kSecret = "a secret for tests, long enough!!";

// Coroutines that still wait when the loops end are never freed: that is no leak of a running
// service, and its exit status must be 0. See leak_check_on_signal.cc.
std::map<std::string, std::string> checkedEnvironment(
    std::map<std::string, std::string> environment) {
  if (!kFindsLeaks) return environment;
  const char* const options = std::getenv("ASAN_OPTIONS");
  environment["ASAN_OPTIONS"] =
      (options != nullptr ? std::string(options) + ':' : "") + "leak_check_at_exit=0";
  return environment;
}

std::string contentOf(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::map<std::string, std::string> serviceEnvironment(const Config::Database& database, int port,
                                                      const Service::Settings& settings) {
  std::map<std::string, std::string> environment{
      {"FESTA_HTTP_PORT", std::to_string(port)},
      {"FESTA_HTTP_DRAIN_DELAY_MS", "0"},
      {"FESTA_DATABASE_PORT", std::to_string(database.port)},
      {"FESTA_DATABASE_NAME", database.name},
      {"FESTA_DATABASE_USER", database.user},
      {"FESTA_DEMO", "true"},
      {"FESTA_AUTH_JWT_SECRET", kSecret},
  };
  for (const auto& [name, value] : settings) environment["FESTA_" + name] = value;
  return environment;
}

// server.sh chooses the port.
Service::Service(const Config::Database& database, const Settings& settings)
    : database_(database),
      server_({.kind = "festabook",
               .arguments = {"--", festabook()},
               .environment = checkedEnvironment(serviceEnvironment(database, 0, settings))}) {}

Service::~Service() {
  if (wasKilled_) return;
  if (process().isRunning()) {
    expectNoLeaks();
    process().signal(SIGTERM);
    process().signal(SIGCONT);  // a test may have left it frozen
  }
  const int status = process().wait();
  if (status != 0)
    ADD_FAILURE() << "festabook ended with status " << status << " (-1: not at all)\n" << errors();
}

void Service::expectNoLeaks() {
  if (!kFindsLeaks) return;
  const auto before = log().size();
  process().signal(SIGCONT);
  process().signal(SIGUSR2);
  std::string text;
  // A service that the test has told to stop may end before it answers.
  EXPECT_TRUE(eventually([&] {
    text = log();
    return text.find("leak check: none", before) != std::string::npos ||
           text.find("leak check: leaks", before) != std::string::npos || !process().isRunning();
  })) << "it does not answer\n"
      << errors();
  // What it finds while the service ends is no leak of a running one.
  const auto leaks = text.find("leak check: leaks");
  EXPECT_TRUE(leaks == std::string::npos || text.find(R"("event":"stopping")") < leaks) << errors();
}

std::string Service::errors() const {
  std::istringstream lines(log());
  std::string found;
  // What is no line of the log is a sanitizer's report, or the last words of a crash.
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('{') || line.find("\"level\":\"error\"") != std::string::npos)
      found += line + '\n';
  constexpr std::size_t kEnough = 4000;
  return found.size() <= kEnough ? found : found.substr(found.size() - kEnough);
}

std::string Service::metrics() const {
  const std::string name = "\nfesta_metrics_rendered_timestamp_seconds ";
  const std::chrono::duration<double> asked = std::chrono::system_clock::now().time_since_epoch();
  auto connection = client();
  std::string text;
  const bool isNew = eventually([&] {
    text = connection.get("/metrics").body;
    const auto at = text.find(name);
    return at != std::string::npos && std::stod(text.substr(at + name.size())) >= asked.count();
  });
  if (!isNew) throw std::runtime_error("the metrics are not rendered: " + text);
  return text;
}

int Service::locked(const std::string& state) const {
  const auto locks = client().get("/admin/locks", as("admin")).json();
  int count = 0;
  for (const auto& row : locks["instance"]) count += row["state"].asString() == state ? 1 : 0;
  return count;
}

namespace {

constexpr const char* kCouncilColumns = "id, festival_id, role, password_version, username";

Headers tokenOf(const PgSession::Row& council) {
  const TokenService tokens(kSecret, std::chrono::hours(1));
  const Caller caller{*council[4],     std::stoll(*council[0]),
                      Realm::kCouncil, std::stoll(*council[1]),
                      {*council[2]},   std::stoll(*council[3])};
  return {{"Authorization", "Bearer " + tokens.issue(caller)}};
}

}  // namespace

Headers Service::as(const std::string& account) const {
  PgSession session(database_);
  return tokenOf(
      session
          .query(std::string("SELECT ") + kCouncilColumns + " FROM councils WHERE username = $1",
                 {account})
          .at(0));
}

Headers Service::newFestival() {
  return newFestivals(1).at(0);
}

std::vector<Headers> Service::newFestivals(int count) {
  PgSession session(database_);
  const auto councils = session.query(
      "WITH f AS (INSERT INTO festivals (university_name, festival_name, start_date, end_date)"
      " SELECT 'U', 'F', '2026-05-20', '2026-05-22' FROM generate_series(1, $1::int) RETURNING id)"
      " INSERT INTO councils (festival_id, username, password_hash, role)"
      " SELECT id, 'council-of-' || id, '', 'ROLE_COUNCIL' FROM f RETURNING " +
          std::string(kCouncilColumns),
      {std::to_string(count)});
  std::vector<Headers> tokens;
  for (const auto& council : councils) tokens.push_back(tokenOf(council));
  lastFestival_ = std::stoll(*councils.back()[1]);
  return tokens;
}

void Service::tellToStop() {
  expectNoLeaks();
  process().signal(SIGTERM);
}

void Service::stop() {
  tellToStop();
  if (process().wait() != 0)
    throw std::runtime_error("festabook did not stop as it should: " + log());
}

void Service::kill() {
  wasKilled_ = true;
  process().signal(SIGKILL);
  process().wait();
}

namespace {

void insertLeases(Service::Settings& settings, const std::string& milliseconds) {
  for (const std::string name :
       {"ANNOUNCEMENT_PINS", "QUESTIONS", "EVENT_DATES", "SEATS", "COUPONS"})
    settings.emplace("LOCK_LOCKABLES_" + name + "_LEASE_MS", milliseconds);
}

}  // namespace

Service::Settings patient(Service::Settings settings, std::chrono::seconds lease) {
  const auto milliseconds = std::to_string(std::chrono::milliseconds(lease).count());
  settings.insert({{"DATABASE_POOL_TIMEOUT_MS", "6000"},
                   {"DATABASE_STATEMENT_TIMEOUT_MS", "3000"},
                   {"DATABASE_LOCK_TIMEOUT_MS", "900"},
                   {"DATABASE_COMMIT_TIMEOUT_MS", "5000"},
                   {"REDIS_TIMEOUT_MS", "3000"},
                   {"REDLOCK_MAX_LEASE_MS", milliseconds}});
  // Longer than the longest attempt with these time-outs, 32 s, also for the last follower.
  insertLeases(settings, milliseconds);
  return settings;
}

Service::Settings ofSeveral(Service::Settings settings) {
  settings.insert({{"DATABASE_POOL_TIMEOUT_MS", "1300"}, {"DATABASE_COMMIT_TIMEOUT_MS", "1400"}});
  insertLeases(settings, "5000");
  return settings;
}

StartResult tryStart(const Config::Database& database, const Service::Settings& settings,
                     const std::string& config) {
  const auto folder = makeTemporaryFolder();
  Command command{.arguments = {festabook()},
                  .environment = serviceEnvironment(database, freePort(), settings),
                  .output = folder + "/log"};
  if (!config.empty()) {
    std::ofstream(folder + "/config.json") << config;
    command.arguments.push_back(folder + "/config.json");
  }
  Process process(command);
  const int status = process.wait();
  return {status, contentOf(folder + "/log")};
}

}  // namespace festa::test
