#include "services/idempotency/key_batches.h"

#include "services/idempotency/idempotency_service.h"
#include "tests/services/database_fixture.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/test_guard.h"

#include <gmock/gmock.h>

#include <set>

namespace festa::test {

namespace {

using State = IdempotencyService::State;
using testing::Each;

class KeyBatchesTest : public DatabaseFixture {
 protected:
  static IdempotencyAttempt attemptOf(const std::string& key, const std::string& owner) {
    return {"user", 1, key, owner};
  }

  // Claims that begin in one turn of the loop.
  std::vector<State> take(const std::vector<IdempotencyAttempt>& attempts,
                          const std::string& fingerprint = "print") {
    std::promise<void> all;
    loops_.at()->queueInLoop([ready = all.get_future().share()] { ready.wait(); });
    std::vector<std::future<IdempotencyService::Found>> found;
    for (const auto& one : attempts)
      found.push_back(
          startOn(loops_.at(), [this, one, fingerprint] { return keys_.take(one, fingerprint); }));
    all.set_value();
    std::vector<State> states;
    for (auto& one : found) states.push_back(finish(std::move(one)).state);
    return states;
  }

  const Database& database_ = testDatabase(db_);
  KeyBatches& batches_ = keptForever(std::make_unique<KeyBatches>(
      database_, BatchLimits{64, 1}, std::chrono::milliseconds(15'000)));
  const IdempotencyService keys_{database_, {}, &batches_};
};

}  // namespace

TEST_F(KeyBatchesTest, NewKeysAreTakenByOneCommit) {
  std::vector<IdempotencyAttempt> attempts;
  for (int i = 0; i < 30; ++i)
    attempts.push_back(attemptOf("key \"" + std::to_string(i), "owner" + std::to_string(i)));
  EXPECT_THAT(take(attempts), Each(State::kTaken));
  EXPECT_EQ(one("SELECT count(*) FROM idempotency_keys WHERE status IS NULL"), "30");
  EXPECT_EQ(one("SELECT count(DISTINCT xmin::text) FROM idempotency_keys"), "1");
  EXPECT_EQ(one("SELECT owner FROM idempotency_keys WHERE key = 'key \"7'"), "owner7");
}

TEST_F(KeyBatchesTest, OneOfSeveralRequestsWithTheSameKeyTakesIt) {
  const auto states = take({attemptOf("k", "a"), attemptOf("k", "b"), attemptOf("k", "c")});
  EXPECT_EQ(std::count(states.begin(), states.end(), State::kTaken), 1);
  EXPECT_EQ(std::count(states.begin(), states.end(), State::kRunning), 2);
}

TEST_F(KeyBatchesTest, AKnownKeyIsAnsweredAsEverBesideNewOnes) {
  session_.run(
      "INSERT INTO idempotency_keys (realm, uid, key, fingerprint, owner, expires_at, status, body)"
      " VALUES ('user', 1, 'done', 'print', 'x', now(), 201, 'kept'),"
      " ('user', 1, 'other request', 'another print', 'x', now(), 201, 'kept'),"
      " ('user', 1, 'expired', 'print', 'x', now() - interval '1 second', NULL, NULL),"
      " ('user', 1, 'running', 'print', 'x', now() + interval '1 minute', NULL, NULL)");
  const auto states =
      take({attemptOf("new", "a"), attemptOf("done", "b"), attemptOf("other request", "c"),
            attemptOf("expired", "d"), attemptOf("running", "e")});
  EXPECT_EQ(states, (std::vector{State::kTaken, State::kDone, State::kReused, State::kTaken,
                                 State::kRunning}));
  EXPECT_EQ(one("SELECT owner FROM idempotency_keys WHERE key = 'expired'"), "d");
}

// A connection that was lost leaves its backend at work: the row is there, and not yet visible.
class LostKeyBatchTest : public KeyBatchesTest {
 protected:
  LostKeyBatchTest() {
    session_.run(
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF current_setting('application_name') = 'batch' THEN"
        "  PERFORM pg_advisory_xact_lock(7); END IF; RETURN NULL; END $$");
    session_.run(
        "CREATE TRIGGER linger AFTER INSERT ON idempotency_keys FOR EACH ROW"
        " EXECUTE FUNCTION linger()");
    other_.run("BEGIN; SELECT pg_advisory_xact_lock(7)");
  }

  std::string waiting(const std::string& name, const std::string& what) {
    return "SELECT " + what + " FROM pg_stat_activity WHERE datname = current_database()" +
           " AND wait_event_type = 'Lock' AND application_name = '" + name + "'";
  }
  // Connections that can be cut.
  drogon::orm::DbClientPtr fragile(std::size_t connections) {
    auto where = where_;
    where.port = proxy_.port();
    return connect(where, connections, "-c application_name=batch");
  }
  // The first attempt, whose batch is lost while it works.
  std::future<IdempotencyService::Found> startLost(std::chrono::milliseconds patience) {
    auto& database = keptForever(
        std::make_unique<TwoClients>(connect(where_, 2, "-c lock_timeout=50"), fragile(1)));
    auto& batches = keptForever(
        std::make_unique<KeyBatches>(database, BatchLimits{64, 1}, std::chrono::seconds(15)));
    return startLost(database, &batches, patience);
  }
  std::future<IdempotencyService::Found> startLost(const Database& database, KeyBatches* batches,
                                                   std::chrono::milliseconds patience) {
    IdempotencySettings settings;
    settings.lostTime = patience;
    const auto& keys =
        keptForever(std::make_unique<IdempotencyService>(database, settings, batches));
    auto found = startOn(loops_.at(), [&keys] { return keys.take(attemptOf("k", "a"), "print"); });
    EXPECT_TRUE(eventually([&] { return one(waiting("batch", "count(*)")) == "1"; }));
    proxy_.cut();
    return found;
  }

  TcpProxy proxy_{sharedPg().port()};
  PgSession other_{where_};
};

TEST_F(LostKeyBatchTest, AnAttemptWaitsForTheStatementThatItLost) {
  auto found = startLost(kPatience);
  // Its own insert meets the key again and again: each wait ends by its time-out.
  std::set<std::string> waits;
  ASSERT_TRUE(eventually([&] {
    for (const auto& row : session_.query(waiting("", "query_start")))
      waits.insert(row.at(0).value_or(""));
    return waits.size() >= 3;
  }));
  other_.run("COMMIT");
  EXPECT_EQ(finish(std::move(found)).state, State::kTaken);
  EXPECT_EQ(one("SELECT owner FROM idempotency_keys"), "a");
}

TEST_F(LostKeyBatchTest, AStatementThatDoesNotEndIsAnUnavailableDatabaseNotAConflict) {
  auto found = startLost(std::chrono::milliseconds(1));
  try {
    finish(std::move(found));
    FAIL() << "it was taken, or told to be running";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDatabaseUnavailable);
  }
  other_.run("COMMIT");
}

// The server that ended the first connection ends others, too.
TEST_F(LostKeyBatchTest, AnAttemptThatLosesAFurtherConnectionStillFindsItsKey) {
  auto found = startLost(kPatience);
  std::set<std::string> ended;
  ASSERT_TRUE(eventually([&] {
    for (const auto& row : session_.query(waiting("", "pid, pg_terminate_backend(pid)")))
      ended.insert(row.at(0).value_or(""));
    return ended.size() >= 2;
  }));
  other_.run("COMMIT");
  EXPECT_EQ(finish(std::move(found)).state, State::kTaken);
  EXPECT_EQ(one("SELECT owner FROM idempotency_keys"), "a");
}

// Keys are not shared, or this one was left out of its batch. Its second insert waits for the
// first.
TEST_F(LostKeyBatchTest, AnAttemptThatIsAloneFindsTheKeyOfItsLostStatement) {
  auto found = startLost(testDatabase(fragile(2)), nullptr, kPatience);
  EXPECT_TRUE(eventually([&] { return one(waiting("batch", "count(*)")) == "2"; }));
  other_.run("COMMIT");
  EXPECT_EQ(finish(std::move(found)).state, State::kTaken);
  EXPECT_EQ(one("SELECT owner FROM idempotency_keys"), "a");
}

// The acknowledgement was lost: the same attempt finds its own row.
TEST_F(KeyBatchesTest, AnAttemptFindsTheKeyThatItTookItself) {
  session_.run(
      "INSERT INTO idempotency_keys (realm, uid, key, fingerprint, owner, expires_at)"
      " VALUES ('user', 1, 'k', 'print', 'mine', now() + interval '1 minute')");
  EXPECT_EQ(take({attemptOf("k", "mine")}), (std::vector{State::kTaken}));
}

}  // namespace festa::test
