// Who waits for a database connection.
#include "tests/support/loops.h"
#include "tests/support/rush.h"
#include "tests/support/service.h"

#include <gtest/gtest.h>

#include <atomic>
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

// A table that is locked keeps the only connection busy, each read until its time-out.
TEST(Pool, ReadsThatWaitInVainForAConnectionAreOverloadWhilePostgresAnswers) {
  // The one that is sent ends by its lock's time-out, well before the others have waited for
  // theirs.
  const Service service(sharedPg().createDatabase(),
                        patient({{"HTTP_THREADS", "1"},
                                 {"DATABASE_CONNECTIONS", "1"},
                                 {"DATABASE_POOL_TIMEOUT_MS", "2000"},
                                 {"DATABASE_LOCK_TIMEOUT_MS", "500"}}));
  PgSession other(service.database());
  other.run("BEGIN; LOCK TABLE performances");
  // Each asks for another one: requests for the same share a query.
  const auto answers = rush(service.port(), 25, [](HttpClient& client, int i) {
    return client.get("/performances/" + std::to_string(i + 1));
  });
  std::map<std::string, int> codes;
  for (const auto& answer : answers) ++codes[answer.code()];
  const int sent = codes["LOCK_TIMEOUT"] + codes["DATABASE_BUSY"];
  EXPECT_EQ(codes["OVERLOADED"], 25 - sent) << codes["DATABASE_UNAVAILABLE"] << " unavailable";
  EXPECT_GE(sent, 1);
  EXPECT_GE(codes["OVERLOADED"], 10) << "the pool was not full";
}

TEST(Pool, AStatementThatTakesTooLongIsABusyDatabase) {
  const Service service(sharedPg().createDatabase(), patient());
  PgSession session(service.database());
  session.run(
      "ALTER TABLE performances RENAME TO stored;"
      "CREATE VIEW performances AS SELECT stored.* FROM stored, pg_sleep(10)");
  const auto answer = service.client().get("/performances/1");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.code(), "DATABASE_BUSY");
}

}  // namespace festa::test
