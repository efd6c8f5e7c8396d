// The server ends sessions of the pool while they are in use: none of them may stay there.
#include "tests/support/servers/sessions.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"

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
constexpr int kBatchConnections = 4;
// Drogon has a pool for its main loop as well, and each pool one connection that watches.
constexpr std::size_t kSessions = 2 * (kConnections + kBatchConnections + 1);
const std::string kWaiting = "wait_event_type = 'Lock'";
const std::string kOfBatches = "application_name = 'festabook-batch'";
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
    for (const auto& row : admin_.query("SELECT " + columns + " FROM pg_stat_activity WHERE " +
                                        kOfTheService + " AND " + condition))
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

  // Sales of different seats to different users, and claims of one coupon.
  std::vector<std::future<Response>> startSales(int count) {
    const auto performance = sales_.performance(count);
    std::vector<std::future<Response>> all;
    for (int i = 1; i <= count; ++i)
      all.push_back(std::async(std::launch::async, [this, performance, i] {
        return service_.client().send("POST", reservationPath(performance), reservationBody(i, i),
                                      Sales::as(i));
      }));
    return all;
  }
  std::vector<std::future<Response>> startClaims(std::int64_t coupon, int from, int to) {
    const auto path = "/coupons/" + std::to_string(coupon) + "/claims";
    std::vector<std::future<Response>> all;
    for (int i = from; i <= to; ++i)
      all.push_back(std::async(std::launch::async, [this, path, i] {
        return service_.client().request("POST", path, Sales::as(i));
      }));
    return all;
  }

  // Ends the sessions of shared transactions that wait for `rival`, then the rival's transaction.
  // Who shared them was told that nothing is stored; the others were served.
  void expectSharedWritesAreHonest(PgSession& rival, std::vector<std::future<Response>> writes,
                                   const std::string& table) {
    ASSERT_TRUE(eventually([&] { return !sessions(kWaiting + " AND " + kOfBatches).empty(); }));
    const auto ended = endSessions(kWaiting + " AND " + kOfBatches);
    rival.run("ROLLBACK");
    int refused = 0;
    int served = 0;
    for (auto& write : writes) {
      const auto answer = write.get();
      const bool isRefused = answer.code() == "DATABASE_UNAVAILABLE";
      EXPECT_TRUE(isRefused || answer.status / 100 == 2) << answer.status << answer.body;
      ++(isRefused ? refused : served);
    }
    EXPECT_GT(refused, 0) << "no session was ended where it matters";
    EXPECT_EQ(admin_.query("SELECT count(*) FROM " + table)[0][0], std::to_string(served));
    expectThePoolIsWhole(ended);
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
    for (auto& sale : startSales(16 * kBatchConnections)) EXPECT_EQ(sale.get().status, 200);
  }

  const std::string kLost = R"({"title":"lost","content":"c","isPinned":false})";
  const std::string kKept = R"({"title":"kept","content":"c","isPinned":false})";
  const Config::Database database_ = sharedPg().createDatabase();
  PgSession admin_{database_};
  const Sales sales_{database_};
  // Patient: what ends a wait here is the end of its session. PostgreSQL itself ends one that is
  // idle in a transaction after 10 s.
  Service service_{database_,
                   {{"LAB", "true"},
                    {"HTTP_THREADS", "1"},
                    {"DATABASE_CONNECTIONS", std::to_string(kConnections)},
                    {"DATABASE_BATCH_CONNECTIONS", std::to_string(kBatchConnections)},
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

// A client of the service whose sessions are not among those that tests end would never be tried.
TEST_F(SessionsChaos, EveryOneOfTheServiceIsAmongThoseThatTestsEnd) {
  const auto outside = [&] {
    return admin_.query(
        "SELECT application_name FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND NOT (" +
        kOfTheService + ")");
  };
  EXPECT_TRUE(eventually([&] { return outside().empty(); })) << *outside()[0][0];
}

// The error and the end of the session are then read in one go, and libpq closes the socket by
// itself: nothing tells the event loop.
TEST_F(SessionsChaos, EndedDuringAStatementAreReplaced) {
  for (const int writers : {1, 5, kConnections}) {
    SCOPED_TRACE(writers);
    PgSession rival(database_);
    rival.run("BEGIN; SELECT 1 FROM festivals FOR UPDATE");
    auto writes = startWrites(writers);
    ASSERT_TRUE(areSessions(static_cast<std::size_t>(writers), kWaiting));
    const auto ended = endSessions(kWaiting);
    expectNothingWasStored(std::move(writes));
    rival.run("ROLLBACK");
    expectThePoolIsWhole(ended);
  }
}

// Shared sales skip every row that is locked, but they wait for a table.
TEST_F(SessionsChaos, EndedDuringASharedSaleAreReplaced) {
  PgSession rival(database_);
  rival.run("BEGIN; LOCK TABLE reservations IN SHARE MODE");
  expectSharedWritesAreHonest(rival, startSales(kConnections), "reservations");
}

// The first claim goes alone; those that wait for its key meanwhile follow together. Each waits for
// a claim of its user that is not committed.
TEST_F(SessionsChaos, EndedDuringASharedGrantAreReplaced) {
  constexpr int kClaims = 2 * kConnections;
  PgSession first(database_);
  PgSession rival(database_);
  const auto coupon = sales_.coupon(kClaims, true);
  first.run(Sales::openClaims(coupon, 1, 1));
  rival.run(Sales::openClaims(coupon, 2, kClaims));
  auto claims = startClaims(coupon, 1, 1);
  ASSERT_TRUE(areSessions(1, kWaiting));
  for (auto& claim : startClaims(coupon, 2, kClaims)) claims.push_back(std::move(claim));
  ASSERT_TRUE(eventually([&] { return service_.locked("waiting") == kClaims - 1; }));
  first.run("ROLLBACK");
  expectSharedWritesAreHonest(rival, std::move(claims), "coupon_claims");
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
