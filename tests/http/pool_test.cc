// Who waits for a database connection.
#include "tests/support/loops.h"
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

}  // namespace festa::test
