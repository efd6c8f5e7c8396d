// A real PostgreSQL of a test's own, on a free port, with the schema in place.
#pragma once

#include "app/config/config.h"
#include "app/startup/pg_session.h"
#include "tests/support/servers/server.h"

#include <drogon/orm/DbClient.h>

#include <string>
#include <vector>

namespace festa::test {

class PgServer {
 public:
  // `settings` are server settings such as "fsync=on"; tests run without fsync unless they say
  // otherwise.
  explicit PgServer(const std::vector<std::string>& settings = {});
  ~PgServer();

  // Migrated, without demo data. A new name each time: tests do not see each other's rows.
  Config::Database createDatabase(bool migrated = true);
  // A connection string for Drogon's clients.
  static std::string connectionInfo(const Config::Database& database,
                                    const std::string& options = "");

  void start() { server_.start(); }
  void kill();     // SIGKILL to the whole server, as when the machine dies
  void restart();  // what `pg_ctl restart -m fast` does: sessions are told to end
  int port() const { return server_.port(); }
  std::string log() const { return server_.log(); }
  // Backends of this database that are doing or holding something.
  Config::Database superuser() const;

 private:
  Server server_;
  int databases_ = 0;
  bool hasTemplate_ = false;
};

// The server shared by the tests of this program.
PgServer& sharedPg();

}  // namespace festa::test
