#include "tests/support/servers/pg_server.h"

#include "app/startup/migrator.h"
#include "tests/support/loops.h"

#include <signal.h>

#include <filesystem>
#include <fstream>

namespace festa::test {

namespace {

constexpr const char* kTemplate = "migrated";

std::vector<std::string> optionsOf(const std::vector<std::string>& settings) {
  std::vector<std::string> options{"--trust",   "--set", "max_connections=1000",  "--set",
                                   "fsync=off", "--set", "log_min_messages=fatal"};
  for (const auto& setting : settings) options.insert(options.end(), {"--set", setting});
  return options;
}

}  // namespace

PgServer::PgServer(const std::vector<std::string>& settings)
    : server_({.kind = "postgres", .arguments = optionsOf(settings)}) {}

// The immediate shutdown: killed, it would leave its shared memory to the machine.
PgServer::~PgServer() {
  if (!server_.process().isRunning()) return;
  server_.process().signal(SIGQUIT);
  server_.process().wait();
}

void PgServer::kill() {
  auto& postmaster = server_.process();
  // From here on it forks no backend that would be missing in the list.
  postmaster.signal(SIGSTOP);
  const auto pid = std::to_string(postmaster.pid());
  std::vector<pid_t> backends;
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  for (pid_t child = 0; children >> child;) backends.push_back(child);
  // The postmaster first, so that it restarts nothing.
  postmaster.signal(SIGKILL);
  for (const auto backend : backends) ::kill(backend, SIGKILL);
  postmaster.wait();
  for (const auto backend : backends) eventually([&] { return ::kill(backend, 0) != 0; });
  std::filesystem::remove(server_.folder() + "/postmaster.pid");
}

void PgServer::restart() {
  server_.process().signal(SIGINT);
  if (server_.process().wait() != 0)
    throw std::runtime_error("PostgreSQL did not stop as it should");
  start();
}

Config::Database PgServer::superuser() const {
  Config::Database database;
  database.port = port();
  database.name = "postgres";
  database.user = "postgres";
  database.connectTimeout = std::chrono::seconds(20);
  return database;
}

Config::Database PgServer::createDatabase(bool migrated) {
  if (migrated && !hasTemplate_) {
    // A copy of this takes a third less time than the migrations again.
    auto original = superuser();
    original.name = kTemplate;
    PgSession(superuser()).run("CREATE DATABASE " + original.name);
    PgSession session(original);
    migrate(session, builtInMigrations());
    hasTemplate_ = true;
  }
  auto database = superuser();
  database.name = "test" + std::to_string(++databases_);
  PgSession(superuser())
      .run("CREATE DATABASE " + database.name +
           (migrated ? " TEMPLATE " + std::string(kTemplate) : ""));
  return database;
}

std::string PgServer::connectionInfo(const Config::Database& database, const std::string& options) {
  return "host=" + database.host + " port=" + std::to_string(database.port) +
         " dbname=" + database.name + " user=" + database.user +
         (options.empty() ? "" : " options='" + options + "'");
}

PgServer& sharedPg() {
  static PgServer server;
  return server;
}

}  // namespace festa::test
