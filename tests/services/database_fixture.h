// A database, a client of Drogon's and an event loop for tests of services.
#pragma once

#include "services/announcements/announcement_service.h"
#include "tests/support/loops.h"
#include "tests/support/servers/pg_server.h"

#include <gtest/gtest.h>

namespace festa::test {

class DatabaseFixture : public testing::Test {
 protected:
  static drogon::orm::DbClientPtr connect(const Config::Database& where,
                                          std::size_t connections = 6,
                                          const std::string& options = "") {
    auto client =
        drogon::orm::DbClient::newPgClient(PgServer::connectionInfo(where, options), connections);
    client->setTimeout(5.0);
    // A client that is dropped while it still connects ends the process.
    eventually([&] { return client->hasAvailableConnections(); }, std::chrono::seconds(2));
    // Never destroyed: a coroutine may drop the last pointer on the client's own thread, which
    // would then wait for itself.
    static auto& kept = *new std::vector<drogon::orm::DbClientPtr>;
    kept.push_back(client);
    return client;
  }

  // Runs a coroutine on the loop; its frame may refer to the test's variables.
  template <class Make>
  auto run(Make make) {
    return runOn(loops_.at(), std::move(make));
  }

  std::string one(const std::string& query) {
    return session_.query(query).at(0).at(0).value_or("NULL");
  }

  // Ends the sessions that stand inside a transaction, as an administrator or a crash would.
  void endOpenTransactions() {
    session_.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE state = 'idle in transaction' AND datname = current_database()");
  }

  Loops loops_;
  const Config::Database where_ = sharedPg().createDatabase();
  PgSession session_{where_};
  drogon::orm::DbClientPtr db_ = connect(where_);
};

}  // namespace festa::test
