#include "services/key_batches.h"

#include "services/idempotency_service.h"
#include "tests/services/database_fixture.h"
#include "tests/support/test_guard.h"

#include <gmock/gmock.h>

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

// The acknowledgement was lost: the same attempt finds its own row.
TEST_F(KeyBatchesTest, AnAttemptFindsTheKeyThatItTookItself) {
  session_.run(
      "INSERT INTO idempotency_keys (realm, uid, key, fingerprint, owner, expires_at)"
      " VALUES ('user', 1, 'k', 'print', 'mine', now() + interval '1 minute')");
  EXPECT_EQ(take({attemptOf("k", "mine")}), (std::vector{State::kTaken}));
}

}  // namespace festa::test
