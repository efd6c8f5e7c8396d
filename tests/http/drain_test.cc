// SIGTERM under load: every request that was read gets an HTTP answer.
#include "tests/support/loops.h"
#include "tests/support/rush.h"
#include "tests/support/service.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <mutex>
#include <set>

namespace festa::test {

namespace {

std::string titled(const std::string& title) {
  return R"({"title":")" + title + R"(","content":"c","isPinned":false})";
}

std::set<std::string> storedTitles(const Service& service) {
  std::set<std::string> titles;
  PgSession session(service.database());
  for (const auto& row : session.query("SELECT title FROM announcements")) titles.insert(*row[0]);
  return titles;
}

bool metricIs(Service& service, const std::string& line) {
  auto client = service.client();
  return client.get("/metrics").body.find(line + "\n") != std::string::npos;
}

}  // namespace

TEST(Drain, UnderLoadEveryRequestThatWasReadIsAnswered) {
  Service service(sharedPg().createDatabase());
  const auto headers = service.newFestival();
  std::mutex mutex;
  std::set<std::string> created;
  std::set<std::string> unanswered;
  std::atomic<int> answers{0};
  std::atomic<int> odd{0};
  std::atomic<bool> stopped{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < 20; ++i)
    clients.emplace_back([&, i] {
      HttpClient client(service.port());
      for (int n = 0; !stopped; ++n) {
        const auto title = std::to_string(i) + "-" + std::to_string(n);
        const auto answer = client.send("POST", "/announcements", titled(title), headers);
        const std::lock_guard guard(mutex);
        if (answer.status == 201) created.insert(title);
        if (answer.status == 0) unanswered.insert(title);
        if (answer.status != 0) ++answers;
        if (answer.status != 0 && answer.status != 201 && answer.code() != "SHUTTING_DOWN") ++odd;
      }
    });
  ASSERT_TRUE(eventually([&] { return answers > 500; }));
  service.process().signal(SIGTERM);
  const int status = service.process().wait();
  stopped = true;
  for (auto& client : clients) client.join();

  EXPECT_EQ(status, 0) << service.log();
  EXPECT_EQ(odd, 0);
  const auto stored = storedTitles(service);
  EXPECT_EQ(stored, created) << "every 2xx has its row and every row its 2xx";
  for (const auto& title : unanswered)
    EXPECT_FALSE(stored.contains(title)) << "it was read, stored and not answered";
  EXPECT_NE(service.log().find(R"("event":"stopped","unanswered":0)"), std::string::npos);
}

TEST(Drain, HoldersFinishAndWaitersAreTurnedAwayWithAClosedConnection) {
  Service service(sharedPg().createDatabase(), {{"LAB", "true"}});
  auto headers = service.newFestival();
  headers["X-Lab-Fault"] = "pause-before-commit=600";
  std::thread stopper([&] {
    EXPECT_TRUE(eventually([&] {
      return metricIs(service,
                      R"(festa_lock_waiting{lockable="announcement-pins",strategy="memory"} 4)");
    }));
    service.process().signal(SIGTERM);
  });
  const auto answers = rush(service.port(), 5, [&](HttpClient& client, int i) {
    return client.send("POST", "/announcements", titled(std::to_string(i)), headers);
  });
  stopper.join();
  EXPECT_EQ(service.process().wait(), 0) << service.log();
  EXPECT_EQ(countByStatus(answers), (std::map<int, int>{{201, 1}, {503, 4}}));
  for (const auto& answer : answers)
    if (answer.status == 503) {
      EXPECT_EQ(answer.code(), "SHUTTING_DOWN");
      EXPECT_EQ(answer.header("connection"), "close");
      EXPECT_FALSE(answer.header("retry-after").empty());
    }
  EXPECT_EQ(storedTitles(service).size(), 1U);
}

TEST(Drain, DuringTheDelayReadinessFailsWhileRequestsAreServed) {
  Service service(sharedPg().createDatabase(), {{"HTTP_DRAIN_DELAY_MS", "1500"}});
  const auto headers = service.newFestival();
  auto client = service.client();
  service.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return client.get("/readyz").status == 503; }));
  EXPECT_EQ(client.send("POST", "/announcements", titled("late"), headers).status, 201);
  EXPECT_EQ(client.get("/healthz").status, 200);
  EXPECT_EQ(service.process().wait(), 0);
}

TEST(Drain, AnIdleServiceStopsAtOnceEvenWithOpenConnections) {
  Service service(sharedPg().createDatabase());
  auto idle = service.client();
  EXPECT_EQ(idle.get("/healthz").status, 200);
  service.stop();
}

}  // namespace festa::test
