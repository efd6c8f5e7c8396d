#include "tests/support/pg_server.h"

#include "app/migrator.h"
#include "tests/support/loops.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace festa::test {

namespace {

std::string binary(const std::string& name) {
  std::vector<std::filesystem::path> found;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql"))
    if (std::filesystem::exists(version.path() / "bin" / name))
      found.push_back(version.path() / "bin" / name);
  if (found.empty()) throw std::runtime_error(name + " was not found; ./dev test installs it");
  return std::max_element(found.begin(), found.end())->string();
}

}  // namespace

PgServer::PgServer(std::vector<std::string> settings)
    : settings_(std::move(settings)), folder_(makeTemporaryFolder() + "/data"), port_(freePort()) {
  runCommand({.arguments = {binary("initdb"), "-D", folder_, "-U", "postgres", "-A", "trust", "-E",
                            "UTF8", "--locale=C", "--no-sync"},
              .asPostgres = true});
  start();
}

PgServer::~PgServer() {
  if (process_) kill();
}

void PgServer::start() {
  std::vector<std::string> arguments{binary("postgres"), "-D", folder_, "-p",
                                     std::to_string(port_)};
  std::vector<std::string> settings{"listen_addresses=127.0.0.1",
                                    "unix_socket_directories=",
                                    "max_connections=1000",
                                    "fsync=off",
                                    "lc_messages=C",
                                    "log_min_messages=fatal"};
  settings.insert(settings.end(), settings_.begin(), settings_.end());
  for (const auto& setting : settings) arguments.insert(arguments.end(), {"-c", setting});
  process_ = std::make_unique<Process>(Command{.arguments = arguments,
                                               .environment = {},
                                               .output = folder_ + "/../log",
                                               .asPostgres = true});
  PgSession(superuser()).query("SELECT 1");
}

void PgServer::kill() {
  const auto pid = std::to_string(process_->pid());
  std::vector<pid_t> backends;
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  for (pid_t child = 0; children >> child;) backends.push_back(child);
  // The postmaster first, so that it restarts nothing.
  process_->signal(SIGKILL);
  for (const auto backend : backends) ::kill(backend, SIGKILL);
  process_->wait();
  process_.reset();
  for (const auto backend : backends) eventually([&] { return ::kill(backend, 0) != 0; });
  std::filesystem::remove(folder_ + "/postmaster.pid");
}

void PgServer::restart() {
  process_->signal(SIGINT);
  if (process_->wait() != 0) throw std::runtime_error("PostgreSQL did not stop as it should");
  start();
}

Config::Database PgServer::superuser() const {
  Config::Database database;
  database.port = port_;
  database.name = "postgres";
  database.user = "postgres";
  database.connectTimeout = std::chrono::seconds(20);
  return database;
}

Config::Database PgServer::createDatabase(bool migrated) {
  auto database = superuser();
  database.name = "test" + std::to_string(++databases_);
  PgSession(superuser()).run("CREATE DATABASE " + database.name);
  if (migrated) {
    PgSession session(database);
    migrate(session, builtInMigrations());
  }
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
