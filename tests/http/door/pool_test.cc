// Who waits for a database connection.
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <thread>

namespace festa::test {

// Writers keep both connections busy and a line of transactions behind them.
TEST(Pool, ReadsAreServedWhileTransactionsNeverStopToWait) {
  Service service(sharedPg().createDatabase(),
                  patient({{"HTTP_THREADS", "1"}, {"DATABASE_CONNECTIONS", "2"}}));
  constexpr std::size_t kWriters = 8;  // as many as may hold a lock
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (std::size_t i = 0; i < kWriters; ++i)
    writers.emplace_back([&, council = service.newFestival()] {
      auto client = service.client();
      while (!stop)
        if (client
                .send("POST", "/announcements", R"({"title":"t","content":"c","isPinned":false})",
                      council)
                .status == 201)
          ++written;
    });
  EXPECT_TRUE(eventually([&] { return written > 50; }));
  auto client = service.client();
  for (int i = 0; i < 20; ++i) {
    const auto answer = client.get("/festivals", {{"festival", "1"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  stop = true;
  for (auto& writer : writers) writer.join();
}

namespace {

constexpr int kCrowd = 25;

// One connection; what is sent ends by its lock's time-out, well before the others have waited for
// theirs.
Service::Settings oneConnection() {
  return patient({{"HTTP_THREADS", "1"},
                  {"DATABASE_CONNECTIONS", "1"},
                  {"DATABASE_POOL_TIMEOUT_MS", "2000"},
                  {"DATABASE_LOCK_TIMEOUT_MS", "500"}});
}

// A table that is locked keeps the only connection busy, each statement until its time-out.
void expectOverload(const Service& service, const std::string& locked,
                    const std::function<Response(HttpClient&, int)>& ask) {
  PgSession other(service.database());
  other.run("BEGIN; LOCK TABLE " + locked);
  std::map<std::string, int> codes;
  for (const auto& answer : rush(service.port(), kCrowd, ask)) ++codes[answer.code()];
  const int sent = codes["LOCK_TIMEOUT"] + codes["DATABASE_BUSY"];
  EXPECT_EQ(codes["OVERLOADED"], kCrowd - sent) << testing::PrintToString(codes);
  EXPECT_GE(sent, 1);
  EXPECT_GE(codes["OVERLOADED"], 10) << "the pool was not full";
}

}  // namespace

TEST(Pool, ReadsThatWaitInVainForAConnectionAreOverloadWhilePostgresAnswers) {
  const Service service(sharedPg().createDatabase(), oneConnection());
  // Each asks for another one: requests for the same share a query.
  expectOverload(service, "performances", [](HttpClient& client, int i) {
    return client.get("/performances/" + std::to_string(i + 1));
  });
}

TEST(Pool, StatementsThatWaitInVainForAConnectionAreOverloadAndStoreNothing) {
  Service service(sharedPg().createDatabase(), oneConnection());
  const auto council = service.newFestival();
  PgSession session(service.database());
  session.query(
      "INSERT INTO announcements (festival_id, title, content, is_pinned)"
      " SELECT $1::bigint, 'before', 'c', false FROM generate_series(1, $2::bigint)",
      {std::to_string(service.lastFestival()), std::to_string(kCrowd)});
  const auto first =
      std::stoll(*session.query("SELECT min(id) FROM announcements WHERE title = 'before'")[0][0]);
  expectOverload(service, "announcements", [&](HttpClient& client, int i) {
    return client.send("PATCH", "/announcements/" + std::to_string(first + i),
                       R"({"title":"after","content":"c"})", council);
  });
  EXPECT_EQ(session.query("SELECT count(*) FROM announcements WHERE title = 'after'")[0][0], "0");
}

// They share transactions, and those that are refused as a whole try alone.
TEST(Pool, SalesThatWaitInVainForAConnectionAreOverloadAndStoreNothing) {
  const Service service(sharedPg().createDatabase(), oneConnection());
  const Sales sales(service.database());
  sales.haveUsers(kCrowd);
  const auto hall = sales.performance(kCrowd);
  expectOverload(service, "seats", [&](HttpClient& client, int i) {
    return client.send("POST", reservationPath(hall), reservationBody(i + 1, i + 1),
                       Sales::as(i + 1));
  });
  EXPECT_EQ(
      sales.number("SELECT count(*) FROM reservations WHERE performance_id = $1::bigint", hall), 0);
}

TEST(Pool, AStatementThatTakesTooLongIsABusyDatabase) {
  Service service(sharedPg().createDatabase(), patient());
  PgSession session(service.database());
  session.run(
      "ALTER TABLE performances RENAME TO stored;"
      "CREATE VIEW performances AS SELECT stored.* FROM stored, pg_sleep(10)");
  const auto answer = service.client().get("/performances/1");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "DATABASE_BUSY");
  const auto council = service.newFestival();
  session.run(
      "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN PERFORM pg_sleep(10); RETURN NEW; END $$;"
      "CREATE TRIGGER linger BEFORE INSERT ON lost_items FOR EACH ROW EXECUTE FUNCTION linger()");
  const auto write = service.client().send(
      "POST", "/lost-items", R"({"imageUrl":"https://a","storageLocation":"s"})", council);
  EXPECT_EQ(write.status, 503) << write.body;
  EXPECT_EQ(write.code(), "DATABASE_BUSY");
  EXPECT_EQ(session.query("SELECT count(*) FROM lost_items")[0][0], "0");
}

}  // namespace festa::test
