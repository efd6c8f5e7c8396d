// The database goes away between lock and COMMIT, and during COMMIT; the process itself is frozen.
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"
#include "tests/support/servers/sessions.h"
#include "tests/support/servers/tcp_proxy.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <mutex>
#include <set>

namespace festa::test {

namespace {

const std::set<std::string> kHonest{"DATABASE_UNAVAILABLE", "COMMIT_UNCONFIRMED", "LOCK_LOST"};

std::string titled(const std::string& title) {
  return R"({"title":")" + title + R"(","content":"c","isPinned":true})";
}

class PostgresChaos : public testing::Test {
 protected:
  std::future<Response> startCreate(const std::string& title, Headers headers,
                                    const std::string& fault = "") {
    if (!fault.empty()) headers["X-Lab-Fault"] = fault;
    return std::async(std::launch::async, [this, title, headers] {
      return service_->client().send("POST", "/announcements", titled(title), headers);
    });
  }

  // The state of the service's backends, as text.
  bool aBackendIs(const std::string& condition) {
    PgSession session(database_);
    return !session
                .query("SELECT 1 FROM pg_stat_activity WHERE " + kOfTheService + " AND " +
                       condition)
                .empty();
  }

  // The pause that the lab's fault makes, not the moment between two statements.
  bool aBackendStandsBeforeCommit() {
    return aBackendIs(
        "state = 'idle in transaction'"
        " AND state_change < clock_timestamp() - interval '100 ms'");
  }

  bool isStored(const std::string& title) {
    PgSession session(database_);
    return !session.query("SELECT 1 FROM announcements WHERE title = $1", {title}).empty();
  }

  void expectServedAgain(const Headers& headers) {
    const auto back = std::chrono::steady_clock::now();
    ASSERT_TRUE(eventually([&] { return startCreate("afterwards", headers).get().status == 201; }));
    EXPECT_LT(std::chrono::steady_clock::now() - back, std::chrono::seconds(8))
        << "it should take seconds, not more";
  }

  // Kills the server under a pending create of "lost" and starts it again.
  void expectKillIsSurvived(std::future<Response>& pending, const Headers& headers) {
    pg_.kill();
    const auto answer = pending.get();
    EXPECT_TRUE(kHonest.contains(answer.code())) << answer.status << answer.body;
    pg_.start();
    expectServedAgain(headers);
    EXPECT_FALSE(isStored("lost"));
  }

  // Time-outs that leave a test two seconds to act in a pause of 2.5 s, and leases for them.
  static Service::Settings unhurried() {
    Service::Settings settings{{"LAB", "true"}, {"DATABASE_COMMIT_TIMEOUT_MS", "3000"}};
    for (const std::string name :
         {"ANNOUNCEMENT_PINS", "QUESTIONS", "EVENT_DATES", "SEATS", "COUPONS"})
      settings["LOCK_LOCKABLES_" + name + "_LEASE_MS"] = "6000";
    return settings;
  }
  static constexpr const char* kPause = "pause-before-commit=2500";

  PgServer pg_;
  const Config::Database database_ = pg_.createDatabase();
  std::unique_ptr<Service> service_ = std::make_unique<Service>(database_, unhurried());
};

}  // namespace

TEST_F(PostgresChaos, KilledBetweenLockAndCommit) {
  const auto headers = service_->newFestival();
  auto pending = startCreate("lost", headers, kPause);
  ASSERT_TRUE(eventually([&] { return aBackendStandsBeforeCommit(); }));
  expectKillIsSurvived(pending, headers);
}

TEST_F(PostgresChaos, KilledDuringCommit) {
  const auto headers = service_->newFestival();
  PgSession(database_).run(
      "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN IF NEW.title = 'lost' THEN PERFORM pg_sleep(0.35); END IF; RETURN NULL; END $$;"
      "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON announcements DEFERRABLE INITIALLY DEFERRED"
      " FOR EACH ROW EXECUTE FUNCTION slow()");
  // The statement time-out ends a COMMIT after 220 ms. If it was not seen by then, create again.
  std::future<Response> pending;
  ASSERT_TRUE(eventually([&] {
    const bool isOver =
        !pending.valid() || pending.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (isOver) pending = startCreate("lost", headers);
    return aBackendIs("query ILIKE 'commit' AND state = 'active'");
  }));
  expectKillIsSurvived(pending, headers);
}

TEST_F(PostgresChaos, TheReplyOfCommitIsLostAndTheOutcomeIsFoundOut) {
  TcpProxy proxy(pg_.port());
  auto throughProxy = database_;
  throughProxy.port = proxy.port();
  service_ = std::make_unique<Service>(throughProxy, patient({{"LAB", "true"}}));
  const auto headers = service_->newFestival();
  auto pending = startCreate("kept", headers, kPause);
  ASSERT_TRUE(eventually([&] { return aBackendStandsBeforeCommit(); }));
  proxy.swallowReplies();
  ASSERT_TRUE(eventually([&] { return isStored("kept"); })) << "COMMIT did not reach the server";
  proxy.cut();
  const auto answer = pending.get();
  EXPECT_EQ(answer.status, 201) << answer.body;
}

TEST_F(PostgresChaos, TheKeyOfASaleIsHeldUntilItsCommitIsAcknowledged) {
  TcpProxy proxy(pg_.port());
  auto throughProxy = database_;
  throughProxy.port = proxy.port();
  // One loop and one connection, whose first sale prepares the statement.
  service_ = std::make_unique<Service>(
      throughProxy, patient({{"HTTP_THREADS", "1"}, {"DATABASE_BATCH_CONNECTIONS", "1"}}));
  const Sales sales(database_);
  std::future<Response> pending;
  // The performance is known for a second. Where that was too short, once more.
  const bool isCommitted = eventually([&] {
    if (pending.valid()) {
      proxy.cut();
      pending.get();
    }
    const auto performance = sales.performance(2);
    const auto buy = [this, performance](int seat) {
      return service_->client().send("POST", reservationPath(performance), reservationBody(1, seat),
                                     Sales::as(1));
    };
    if (buy(1).status != 200) return false;
    proxy.swallowReplies();
    pending = std::async(std::launch::async, [buy] { return buy(2); });
    return eventually([&] { return sales.seatsOf(performance).sold == 2; },
                      std::chrono::seconds(3));
  });
  ASSERT_TRUE(isCommitted);
  // The service does not know it yet.
  EXPECT_EQ(service_->locked("holding"), 1);
  EXPECT_NE(pending.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  proxy.cut();
  const auto answer = pending.get();
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_TRUE(eventually([&] { return service_->locked("holding") == 0; }));
}

TEST_F(PostgresChaos, RestartedInARushEvery2xxHasItsRowAndEveryRowItsAnswer) {
  std::vector<Headers> festivals;
  for (int i = 0; i < 8; ++i) festivals.push_back(service_->newFestival());
  std::mutex mutex;
  std::set<std::string> created;
  std::set<std::string> unknown;
  std::atomic<int> falseAnswers{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i)
    clients.emplace_back([&, i] {
      HttpClient client(service_->port());
      for (int n = 0; !stop; ++n) {
        const auto title = std::to_string(i) + "-" + std::to_string(n);
        const auto body = R"({"title":")" + title + R"(","content":"c","isPinned":false})";
        const auto answer =
            client.send("POST", "/announcements", body, festivals[static_cast<std::size_t>(i) % 8]);
        const std::lock_guard guard(mutex);
        if (answer.status == 201) created.insert(title);
        if (answer.status == 0) ++falseAnswers;
        if (answer.code() == "COMMIT_UNCONFIRMED") unknown.insert(title);
      }
    });
  const auto createdAtLeast = [&](std::size_t count) {
    return eventually([&] {
      const std::lock_guard guard(mutex);
      return created.size() >= count;
    });
  };
  EXPECT_TRUE(createdAtLeast(300));
  pg_.kill();
  pg_.start();
  std::size_t before = 0;
  {
    const std::lock_guard guard(mutex);
    before = created.size();
  }
  EXPECT_TRUE(createdAtLeast(before + 300)) << "it did not recover";
  stop = true;
  for (auto& client : clients) client.join();

  std::set<std::string> stored;
  PgSession session(database_);
  for (const auto& row : session.query("SELECT title FROM announcements")) stored.insert(*row[0]);
  EXPECT_EQ(falseAnswers, 0) << "requests without an answer";
  for (const auto& title : created)
    EXPECT_TRUE(stored.contains(title)) << title << " was answered 201 and is not there";
  for (const auto& title : stored)
    EXPECT_TRUE(created.contains(title) || unknown.contains(title))
        << title << " is there but was refused";
}

TEST_F(PostgresChaos, AProcessFrozenPastItsLeaseStoresNothing) {
  const auto headers = service_->newFestival();
  auto pending = startCreate("frozen", headers, kPause);
  ASSERT_TRUE(eventually([&] { return aBackendStandsBeforeCommit(); }));
  service_->process().signal(SIGSTOP);
  // The server ends the session of a client that keeps a transaction open and says nothing.
  ASSERT_TRUE(eventually([&] { return !aBackendIs("state = 'idle in transaction'"); }));
  // And another writer is free to go on, as a successor would.
  PgSession successor(database_);
  successor.run("SET lock_timeout = 1000; UPDATE festivals SET fence = fence + 1 WHERE id = " +
                std::to_string(service_->lastFestival()));
  std::this_thread::sleep_for(std::chrono::milliseconds(6100));  // longer than the lease of 6 s
  service_->process().signal(SIGCONT);
  const auto answer = pending.get();
  EXPECT_TRUE(kHonest.contains(answer.code())) << answer.status << answer.body;
  EXPECT_FALSE(isStored("frozen"));
  expectServedAgain(headers);
}

}  // namespace festa::test
