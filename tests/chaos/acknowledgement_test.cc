// A session that ends after its rows were sent and before its commit: the rows are no
// acknowledgement.
#include "tests/support/loops.h"
#include "tests/support/sales.h"
#include "tests/support/service.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

// A deferred trigger of the test ends the session that writes: the rows of the statement have been
// sent by then, its implicit commit has only begun.
class Acknowledgement : public testing::Test {
 protected:
  void SetUp() override {
    admin_.run(
        "CREATE SEQUENCE traps;"
        "CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF nextval('traps') <= TG_ARGV[0]::int THEN"
        " PERFORM pg_terminate_backend(pg_backend_pid()); END IF; RETURN NULL; END $$");
    Sales(database_).haveUsers(10);
  }

  // The first `times` writes of this kind end their sessions.
  void endSessions(const std::string& event, int times, const std::string& when = "true") {
    admin_.run("SELECT setval('traps', 1, false); CREATE CONSTRAINT TRIGGER trap AFTER " + event +
               " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (" + when +
               ") EXECUTE FUNCTION end_session(" + std::to_string(times) + ")");
  }
  void disarm(const std::string& table) { admin_.run("DROP TRIGGER trap ON " + table); }
  std::int64_t count(const std::string& from) {
    return std::stoll(*admin_.query("SELECT count(*) FROM " + from)[0][0]);
  }

  struct Write {
    std::string table;
    std::string event;  // INSERT, UPDATE
    std::string rows;   // one more when it has succeeded
    int success;
    // A fence tells that nothing was stored; without one the outcome is unknown.
    std::string refusal = "DATABASE_UNAVAILABLE";
  };

  // Every session of such a write ends: no success and no row. Afterwards it succeeds.
  void expectHonest(const Write& kind, const std::function<Response()>& write) {
    const auto& [table, event, rows, success, refusal] = kind;
    const auto before = count(rows);
    endSessions(event + " ON " + table, 1000);
    const auto refused = write();
    EXPECT_EQ(refused.code(), refusal) << refused.status << refused.body;
    EXPECT_EQ(count(rows), before);
    disarm(table);
    Response accepted;
    ASSERT_TRUE(eventually([&] {
      accepted = write();
      return accepted.status != 503;
    }));
    EXPECT_EQ(accepted.status, success) << accepted.body;
    EXPECT_EQ(count(rows), before + 1);
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
  std::unique_ptr<Service> service_;
};

const Service::Settings kQueued{{"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"}};

}  // namespace

TEST_F(Acknowledgement, ASaleIsAnsweredAfterItsCommit) {
  start();
  const auto performance = Sales(database_).performance(1);
  expectHonest({"reservations", "INSERT", "reservations", 200}, [&] {
    return service_->client().send("POST", reservationPath(performance), reservationBody(1, 1),
                                   Sales::as(1));
  });
}

TEST_F(Acknowledgement, ACouponIsAnsweredAfterItsCommit) {
  start();
  const auto coupon = Sales(database_).coupon(5, true);
  expectHonest({"coupon_claims", "INSERT", "coupon_claims", 201}, [&] { return claim(coupon, 1); });
}

TEST_F(Acknowledgement, AKeyedSaleIsAnsweredAfterItsCommit) {
  start();
  const auto performance = Sales(database_).performance(1);
  auto headers = Sales::as(1);
  headers["Idempotency-Key"] = "once";
  expectHonest({"reservations", "INSERT", "reservations", 200}, [&] {
    return service_->client().send("POST", reservationPath(performance), reservationBody(1, 1),
                                   headers);
  });
}

TEST_F(Acknowledgement, AnAnnouncementIsAnsweredAfterItsCommit) {
  start();
  const auto council = service_->newFestival();
  expectHonest({"announcements", "INSERT", "announcements", 201}, [&] {
    return service_->client().send("POST", "/announcements",
                                   R"({"title":"t","content":"c","isPinned":true})", council);
  });
}

TEST_F(Acknowledgement, ACancelledReservationIsAnsweredAfterItsCommit) {
  start();
  const auto performance = Sales(database_).performance(1);
  const auto sale = service_->client().send("POST", reservationPath(performance),
                                            reservationBody(1, 1), Sales::as(1));
  ASSERT_EQ(sale.status, 200) << sale.body;
  const auto path = "/customer/reservations/" + sale.json()["content"]["id"].asString();
  expectHonest({"reservations", "UPDATE", "reservations WHERE cancelled_at IS NOT NULL", 204,
                "COMMIT_UNCONFIRMED"},
               [&] { return service_->client().request("DELETE", path, Sales::as(1)); });
}

TEST_F(Acknowledgement, AnIdempotencyKeyIsTakenAfterItsCommit) {
  start();
  const auto coupon = Sales(database_).coupon(5, true);
  expectHonest({"idempotency_keys", "INSERT", "idempotency_keys", 201}, [&] {
    return claim(coupon, 1, {{"Idempotency-Key", "once"}});
  });
  EXPECT_EQ(count("coupon_claims"), 1);
}

TEST_F(Acknowledgement, AQueuedClaimIsAnsweredAfterItsCommit) {
  start(kQueued);
  const auto coupon = Sales(database_).coupon(5, true);
  expectHonest({"coupon_claims", "INSERT", "coupon_claims", 202, "COMMIT_UNCONFIRMED"},
               [&] { return claim(coupon, 1); });
}

// What the migrator and the start's other statements use.
TEST_F(Acknowledgement, AStatementOfTheStartReturnsAfterItsCommit) {
  admin_.run("CREATE TABLE started (id int)");
  endSessions("INSERT ON started", 1000);
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
    endSessions("UPDATE ON coupon_claims", 2, "NEW.state = '" + state + "'");
    const auto accepted = claim(coupon, state == "DONE" ? 1 : 2);
    ASSERT_EQ(accepted.status, 202) << accepted.body;
    EXPECT_TRUE(becomes(accepted.json()["claimId"].asInt64(), "DONE"));
    EXPECT_EQ(count("traps WHERE last_value > 2"), 1) << "no session was ended";
    disarm("coupon_claims");
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
  endSessions("UPDATE ON coupon_claims", 2, "NEW.state = 'FAILED'");
  const auto accepted = claim(coupon, 1);
  ASSERT_EQ(accepted.status, 202) << accepted.body;
  EXPECT_TRUE(becomes(accepted.json()["claimId"].asInt64(), "FAILED"));
  EXPECT_EQ(count("coupons WHERE remaining = 5"), 1) << "the unit did not return";
}

}  // namespace festa::test
