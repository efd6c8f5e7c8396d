// The server ends sessions of the pool while they are in use: none of them may stay there.
#include "tests/support/loops.h"
#include "tests/support/rush.h"
#include "tests/support/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>

namespace festa::test {

namespace {

using testing::AnyOf;
using testing::Each;
using testing::IsEmpty;
using testing::Key;

using Pids = std::set<std::string>;

constexpr int kConnections = 8;
constexpr std::size_t kSessions = 2 * kConnections;  // Drogon has a pool for its main loop as well
// Of a write before its COMMIT: all of them must be there, and the service frozen, meanwhile.
constexpr std::chrono::milliseconds kPause{4000};

// As many festivals as connections, all of one loop: a write of each occupies the whole pool.
class SessionsChaos : public testing::Test {
 protected:
  SessionsChaos() {
    for (int i = 0; i < kConnections; ++i) festivals_.push_back(service_.newFestival());
  }
  void SetUp() override { ASSERT_TRUE(areSessions(kSessions, "true")); }

  // One write for each of the first `count` festivals.
  std::vector<std::future<Response>> startWrites(int count, const Headers& more = {}) {
    std::vector<std::future<Response>> all;
    for (int i = 0; i < count; ++i)
      all.push_back(std::async(std::launch::async, [this, i, more] {
        auto headers = festivals_[static_cast<std::size_t>(i)];
        headers.insert(more.begin(), more.end());
        return service_.client().send("POST", "/announcements", kLost, headers);
      }));
    return all;
  }

  Pids sessions(const std::string& condition = "true") { return pids("pid", condition); }
  bool areSessions(std::size_t count, const std::string& condition) {
    return eventually([&] { return sessions(condition).size() == count; });
  }
  // Not in the condition: that would be evaluated in whatever order.
  Pids endSessions(const std::string& condition = "true") {
    return pids("pid, pg_terminate_backend(pid)", condition);
  }
  Pids pids(const std::string& columns, const std::string& condition) {
    Pids all;
    for (const auto& row :
         admin_.query("SELECT " + columns +
                      " FROM pg_stat_activity WHERE application_name = 'festabook' AND datname = "
                      "current_database() AND " +
                      condition))
      all.insert(*row[0]);
    return all;
  }

  void expectNothingWasStored(std::vector<std::future<Response>> writes) {
    for (auto& write : writes) {
      const auto answer = write.get();
      EXPECT_THAT(answer.code(), AnyOf("DATABASE_UNAVAILABLE", "COMMIT_UNCONFIRMED"))
          << answer.status << answer.body;
    }
    EXPECT_THAT(admin_.query("SELECT 1 FROM announcements WHERE title = 'lost'"), IsEmpty());
  }

  // There are as many sessions as before, and all of them serve.
  void expectThePoolIsWhole(const Pids& ended) {
    ASSERT_TRUE(eventually([&] {
      const auto now = sessions();
      return now.size() == kSessions &&
             std::ranges::none_of(ended, [&](const auto& pid) { return now.contains(pid); });
    })) << sessions().size()
        << " sessions of " << kSessions;
    ASSERT_TRUE(eventually([&] { return service_.client().get("/readyz").status == 200; }));
    for (int round = 0; round < 200 / kConnections; ++round) {
      const auto writes = rush(service_.port(), kConnections, [&](HttpClient& client, int i) {
        return client.send("POST", "/announcements", kKept,
                           festivals_[static_cast<std::size_t>(i)]);
      });
      EXPECT_THAT(countByStatus(writes), Each(Key(201)));
      const auto reads = rush(service_.port(), kConnections, [](HttpClient& client, int) {
        return client.get("/festivals", {{"festival", "1"}});
      });
      EXPECT_THAT(countByStatus(reads), Each(Key(200)));
    }
  }

  const std::string kLost = R"({"title":"lost","content":"c","isPinned":false})";
  const std::string kKept = R"({"title":"kept","content":"c","isPinned":false})";
  const Config::Database database_ = sharedPg().createDatabase();
  PgSession admin_{database_};
  // Patient: what ends a wait here is the end of its session. PostgreSQL itself ends one that is
  // idle in a transaction after 10 s.
  Service service_{database_,
                   {{"LAB", "true"},
                    {"HTTP_THREADS", "1"},
                    {"DATABASE_CONNECTIONS", std::to_string(kConnections)},
                    {"DATABASE_POOL_TIMEOUT_MS", "5000"},
                    {"DATABASE_LOCK_TIMEOUT_MS", "5000"},
                    {"DATABASE_STATEMENT_TIMEOUT_MS", "5000"},
                    {"DATABASE_COMMIT_TIMEOUT_MS", "5000"},
                    {"LOCK_LOCKABLES_SEATS_LEASE_MS", "60000"},
                    {"LOCK_LOCKABLES_COUPONS_LEASE_MS", "60000"},
                    {"LOCK_LOCKABLES_QUESTIONS_LEASE_MS", "60000"},
                    {"LOCK_LOCKABLES_EVENT_DATES_LEASE_MS", "60000"},
                    {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_LEASE_MS", "60000"}}};
  std::vector<Headers> festivals_;
};

}  // namespace

// The error and the end of the session are then read in one go, and libpq closes the socket by
// itself: nothing tells the event loop.
TEST_F(SessionsChaos, EndedDuringAStatementAreReplaced) {
  for (const int writers : {1, 5, kConnections}) {
    SCOPED_TRACE(writers);
    PgSession rival(database_);
    rival.run("BEGIN; SELECT 1 FROM festivals FOR UPDATE");
    auto writes = startWrites(writers);
    ASSERT_TRUE(areSessions(static_cast<std::size_t>(writers), "wait_event_type = 'Lock'"));
    const auto ended = endSessions("wait_event_type = 'Lock'");
    expectNothingWasStored(std::move(writes));
    rival.run("ROLLBACK");
    expectThePoolIsWhole(ended);
  }
}

// The end of the session and the moment of COMMIT are noticed together, in whatever order.
TEST_F(SessionsChaos, EndedBeforeACommitAreReplaced) {
  auto writes = startWrites(
      kConnections, {{"X-Lab-Fault", "pause-before-commit=" + std::to_string(kPause.count())}});
  ASSERT_TRUE(areSessions(kConnections,
                          "state = 'idle in transaction'"
                          " AND state_change < clock_timestamp() - interval '50 ms'"));
  service_.process().signal(SIGSTOP);
  const auto ended = endSessions();
  EXPECT_TRUE(areSessions(0, "true"));
  std::this_thread::sleep_for(kPause);  // all of them have their COMMIT to send now
  service_.process().signal(SIGCONT);
  expectNothingWasStored(std::move(writes));
  expectThePoolIsWhole(ended);
}

}  // namespace festa::test
