// Writes beside those of the routes (written_routes_test.cc) whose sessions end before their
// commit: keys, queued claims, the start.
#include "tests/chaos/session_trap.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/hasty_replies.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

class Acknowledgement : public testing::Test {
 protected:
  void SetUp() override { Sales(database_).haveUsers(10); }

  std::int64_t count(const std::string& from) {
    return std::stoll(*admin_.query("SELECT count(*) FROM " + from)[0][0]);
  }

  Response claim(std::int64_t coupon, int user, const Headers& more = {}) {
    auto headers = Sales::as(user);
    headers.insert(more.begin(), more.end());
    return service_->client().request("POST", "/coupons/" + std::to_string(coupon) + "/claims",
                                      headers);
  }
  // Patient: what makes an outcome unknown here is the end of a session, and there is time to find
  // out about it.
  void start(const Service::Settings& settings = {}) {
    service_ = std::make_unique<Service>(database_, patient(settings));
  }
  bool becomes(std::int64_t claim, const std::string& state) {
    return eventually([&] {
      return count("coupon_claims WHERE id = " + std::to_string(claim) + " AND state = '" + state +
                   "'") == 1;
    });
  }

  const Config::Database database_ = sharedPg().createDatabase();
  PgSession admin_{database_};
  SessionTrap trap_{database_};
  std::unique_ptr<Service> service_;
};

const Service::Settings kQueued{{"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"}};

}  // namespace

TEST_F(Acknowledgement, AKeyedSaleIsAnsweredAfterItsCommit) {
  start();
  const auto performance = Sales(database_).performance(1);
  auto headers = Sales::as(1);
  headers["Idempotency-Key"] = "once";
  trap_.expectHonest({"INSERT ON reservations", "count(*) = 1 FROM reservations", 200}, [&] {
    return service_->client().send("POST", reservationPath(performance), reservationBody(1, 1),
                                   headers);
  });
}

// The control: what these tests and those of the routes look for can be seen.
TEST_F(Acknowledgement, AResultThatIsBelievedBeforeItsCommitIsFoundOut) {
  TcpProxy proxy(sharedPg().port(), &HastyReplies::make);
  auto behindProxy = database_;
  behindProxy.port = proxy.port();
  service_ = std::make_unique<Service>(behindProxy, patient());
  const auto performance = Sales(database_).performance(1);
  trap_.arm("INSERT ON reservations");
  const auto answer = service_->client().send("POST", reservationPath(performance),
                                              reservationBody(1, 1), Sales::as(1));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(count("reservations"), 0);
  service_.reset();  // before its proxy
}

TEST_F(Acknowledgement, AnIdempotencyKeyIsTakenAfterItsCommit) {
  start();
  const auto coupon = Sales(database_).coupon(5, true);
  trap_.expectHonest({"INSERT ON idempotency_keys", "count(*) = 1 FROM idempotency_keys", 201},
                     [&] {
                       return claim(coupon, 1, {{"Idempotency-Key", "once"}});
                     });
  EXPECT_EQ(count("coupon_claims"), 1);
}

TEST_F(Acknowledgement, AQueuedClaimIsAnsweredAfterItsCommit) {
  start(kQueued);
  const auto coupon = Sales(database_).coupon(5, true);
  trap_.expectHonest(
      {"INSERT ON coupon_claims", "count(*) = 1 FROM coupon_claims", 202, "COMMIT_UNCONFIRMED"},
      [&] { return claim(coupon, 1); });
}

// What the migrator and the start's other statements use.
TEST_F(Acknowledgement, AStatementOfTheStartReturnsAfterItsCommit) {
  admin_.run("CREATE TABLE started (id int)");
  trap_.arm("INSERT ON started");
  PgSession session(database_);
  EXPECT_THROW(session.query("INSERT INTO started VALUES ($1::int) RETURNING id", {"1"}),
               std::runtime_error);
  PgSession another(database_);
  EXPECT_THROW(another.run("BEGIN; INSERT INTO started VALUES (2); COMMIT"), std::runtime_error);
  EXPECT_EQ(count("started"), 0);
}

// The queue forgets an entry when its handler returns: that must not be before the commit.
TEST_F(Acknowledgement, AQueuedClaimIsDecidedAndWorkedOnUntilThatIsCommitted) {
  start(kQueued);
  const auto coupon = Sales(database_).coupon(5, true);
  for (const std::string state : {"PROCESSED", "DONE"}) {
    SCOPED_TRACE(state);
    trap_.arm("UPDATE ON coupon_claims", 2, "NEW.state = '" + state + "'");
    const auto accepted = claim(coupon, state == "DONE" ? 1 : 2);
    ASSERT_EQ(accepted.status, 202) << accepted.body;
    EXPECT_TRUE(becomes(accepted.json()["claimId"].asInt64(), "DONE"));
    EXPECT_GT(trap_.caught(), 2) << "no session was ended";
    trap_.disarm();
  }
  EXPECT_EQ(count("coupons WHERE granted = 2 AND remaining = 3"), 1);
}

TEST_F(Acknowledgement, AQueuedClaimIsGivenUpUntilThatIsCommitted) {
  start(kQueued);
  const auto coupon = Sales(database_).coupon(5, true);
  admin_.run(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
      " RAISE EXCEPTION 'planted'; END $$;"
      "CREATE TRIGGER refuse BEFORE UPDATE ON coupon_claims FOR EACH ROW"
      " WHEN (NEW.state = 'DONE') EXECUTE FUNCTION refuse()");
  trap_.arm("UPDATE ON coupon_claims", 2, "NEW.state = 'FAILED'");
  const auto accepted = claim(coupon, 1);
  ASSERT_EQ(accepted.status, 202) << accepted.body;
  EXPECT_TRUE(becomes(accepted.json()["claimId"].asInt64(), "FAILED"));
  EXPECT_EQ(count("coupons WHERE remaining = 5"), 1) << "the unit did not return";
}

}  // namespace festa::test
