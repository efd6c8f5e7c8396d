// A changed password ends the tokens issued before it, on every instance.
#include "services/accounts/password_hasher.h"
#include "tests/http/api_test.h"
#include "tests/support/http/crafted_token.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/stall_watch.h"

#include <ctime>

namespace festa::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kPassword = "right-password-1";
const std::string kAnother = "another-password-2";
constexpr double kPromisedSeconds = 2;
constexpr seconds kSoon{10};  // the promise, on a busy machine

const auto kOneOfTwo =
    patient({{"LOCK_STRATEGY", "pg-row"}, {"LOCK_INSTANCES", "2"}, {"DATABASE_CONNECTIONS", "4"}});

Response logIn(HttpClient& client, const std::string& name, const std::string& password) {
  return client.send("POST", "/councils/login",
                     R"({"username":")" + name + R"(","password":")" + password + R"("})");
}

Response change(HttpClient& client, const Headers& headers, const std::string& current = kPassword,
                const std::string& replacement = kAnother) {
  return client.send(
      "PATCH", "/councils/password",
      R"({"currentPassword":")" + current + R"(","newPassword":")" + replacement + R"("})",
      headers);
}

// Authenticated, and refused for its body: 422 with a good token, 401 with one that has ended.
int statusOf(HttpClient& client, const Headers& headers) {
  return client.send("POST", "/announcements", "{}", headers).status;
}

class PasswordChange : public ApiTest {
 protected:
  static void SetUpTestSuite() {
    service = std::make_unique<Service>(sharedPg().createDatabase(), kOneOfTwo);
    other = std::make_unique<Service>(service->database(), kOneOfTwo);
  }
  static void TearDownTestSuite() {
    other.reset();
    service.reset();
  }

  PasswordChange() : elsewhere(other->port()) {
    const auto created =
        asAdmin("POST", "/councils",
                R"({"festivalId":)" + std::to_string(festival) + R"(,"username":")" + name +
                    R"(","password":")" + kPassword + R"("})");
    EXPECT_EQ(created.status, 201) << created.body;
    id = created.json()["councilId"].asInt64();
  }
  Headers loggedIn(const std::string& password = kPassword) {
    return bearing(logIn(client, name, password).json()["accessToken"].asString());
  }
  std::string payload(const std::string& version) const {
    return R"({"sub":"x","uid":)" + std::to_string(id) + R"(,"realm":"council","festivalId":)" +
           std::to_string(festival) + R"(,"roles":["ROLE_COUNCIL"])" + version + R"(,"exp":)" +
           std::to_string(std::time(nullptr) + 3600) + '}';
  }
  static Headers crafted(const std::string& payload) {
    return bearing(craftedToken(R"({"alg":"HS256","typ":"JWT"})", payload, secret()));
  }
  void run(const std::string& statement) const {
    PgSession(service->database()).query(statement, {std::to_string(id)});
  }

  static inline std::unique_ptr<Service> other;
  const std::string name = "changing-" + std::to_string(festival);
  std::int64_t id = 0;
  HttpClient elsewhere;
};

}  // namespace

TEST_F(PasswordChange, EndsOlderTokensAtOnceWhereItWasMade) {
  const auto first = loggedIn();
  const auto second = loggedIn();
  EXPECT_EQ(statusOf(client, first), 422);
  ASSERT_EQ(change(client, first).status, 200);
  for (const auto& token : {first, second})
    expectProblem(client.send("POST", "/announcements", "{}", token), 401, "UNAUTHENTICATED");
  EXPECT_EQ(statusOf(client, loggedIn(kAnother)), 422);
}

TEST_F(PasswordChange, EndsOlderTokensOnOtherInstancesWithinTwoSeconds) {
  auto password = kPassword;
  for (int round = 0; round < 3; ++round) {
    const auto token = loggedIn(password);
    // Often enough to be remembered as verified.
    for (int i = 0; i < 3; ++i) ASSERT_EQ(statusOf(elsewhere, token), 422);
    const auto next = "password-number-" + std::to_string(round);
    const StallWatch stalls;
    ASSERT_EQ(change(client, token, password, next).status, 200);
    const auto changed = StallWatch::Clock::now();
    ASSERT_TRUE(eventually([&] { return statusOf(elsewhere, token) == 401; }, kSoon));
    EXPECT_LT(secondsSince(changed), stalls.allowed(kPromisedSeconds)) << "in round " << round;
    password = next;
  }
  const auto fresh = loggedIn(password);
  EXPECT_EQ(statusOf(client, fresh), 422);
  EXPECT_EQ(statusOf(elsewhere, fresh), 422);
}

TEST_F(PasswordChange, EveryFurtherOneEndsTheTokensBetween) {
  auto password = kPassword;
  for (int i = 0; i < 3; ++i) {
    const auto token = loggedIn(password);
    const auto next = "password-number-" + std::to_string(i);
    // In turn on either instance.
    auto& where = i % 2 == 0 ? elsewhere : client;
    ASSERT_EQ(change(where, token, password, next).status, 200);
    EXPECT_EQ(statusOf(where, token), 401);
    EXPECT_TRUE(eventually([&] { return statusOf(client, token) == 401; }, kSoon));
    EXPECT_TRUE(eventually([&] { return statusOf(elsewhere, token) == 401; }, kSoon));
    password = next;
  }
  EXPECT_EQ(statusOf(client, loggedIn(password)), 422);
}

TEST_F(PasswordChange, ATokenIssuedElsewhereRightAfterItIsGood) {
  ASSERT_EQ(change(elsewhere, loggedIn()).status, 200);
  EXPECT_EQ(statusOf(client, loggedIn(kAnother)), 422) << "this instance may not know of it yet";
}

TEST_F(PasswordChange, LeavesOtherAccountsAlone) {
  // Its uid may be that of a user.
  const auto user = bearing(TokenService(secret(), std::chrono::hours(1))
                                .issue({"u", id, Realm::kUser, {}, {"ROLE_USER"}}));
  ASSERT_EQ(change(client, loggedIn()).status, 200);
  EXPECT_EQ(statusOf(client, council), 422);
  EXPECT_EQ(client.get("/coupons/claims/999999999", user).status, 404);
}

TEST_F(PasswordChange, AFailedOneEndsNothing) {
  const auto token = loggedIn();
  EXPECT_EQ(change(client, token, "wrong-password-1").status, 422);
  EXPECT_EQ(change(client, token, kPassword, "short").status, 422);
  EXPECT_EQ(statusOf(client, token), 422);
}

TEST_F(PasswordChange, IsKnownToAnInstanceThatStartsLater) {
  const auto token = loggedIn();
  ASSERT_EQ(change(client, token).status, 200);
  const Service late(service->database(), kOneOfTwo);
  auto there = late.client();
  EXPECT_EQ(statusOf(there, token), 401);
  EXPECT_EQ(statusOf(there, loggedIn(kAnother)), 422);
}

TEST_F(PasswordChange, ByAnOperatorInTheDatabaseCountsAsWell) {
  const auto token = loggedIn();
  run("UPDATE councils SET password_hash = 'x' WHERE id = $1::bigint");
  EXPECT_TRUE(eventually([&] { return statusOf(client, token) == 401; }, kSoon));
  EXPECT_TRUE(eventually([&] { return statusOf(elsewhere, token) == 401; }, kSoon));
}

TEST_F(PasswordChange, ARaisedVersionEndsTokensWithoutANewPassword) {
  const auto token = loggedIn();
  run("UPDATE councils SET password_version = password_version + 1 WHERE id = $1::bigint");
  EXPECT_TRUE(eventually([&] { return statusOf(client, token) == 401; }, kSoon));
  EXPECT_EQ(statusOf(client, loggedIn()), 422);
}

TEST_F(PasswordChange, OfAUserByAnOperatorEndsTheUsersTokens) {
  const auto token =
      bearing(client.send("POST", "/users/login", R"({"userId":"user7","userPw":"user-demo-1"})")
                  .json()["accessToken"]
                  .asString());
  const auto read = [&](HttpClient& where) {
    return where.get("/coupons/claims/999999999", token).status;
  };
  ASSERT_EQ(read(client), 404);
  PgSession(service->database()).run("UPDATE users SET password_hash = 'x' WHERE login = 'user7'");
  EXPECT_TRUE(eventually([&] { return read(client) == 401; }, kSoon));
  EXPECT_TRUE(eventually([&] { return read(elsewhere) == 401; }, kSoon));
}

TEST_F(PasswordChange, OtherChangesOfAnAccountEndNothing) {
  const auto token = loggedIn();
  run("UPDATE councils SET role = 'ROLE_ADMIN', password_hash = password_hash WHERE id = "
      "$1::bigint");
  EXPECT_EQ(inDatabase("SELECT password_version FROM councils WHERE username = $1", {name}), "0");
  EXPECT_EQ(statusOf(client, token), 422);
}

TEST_F(PasswordChange, ATokenWithoutAVersionIsOfVersionZero) {
  EXPECT_EQ(statusOf(client, crafted(payload(""))), 422);
  EXPECT_EQ(statusOf(client, crafted(payload(R"(,"passwordVersion":0)"))), 422);
  for (const auto* odd : {"-1", "0.5", "\"0\"", "null", "true", "[]", "1e400"})
    EXPECT_EQ(statusOf(client, crafted(payload(R"(,"passwordVersion":)" + std::string(odd)))), 401)
        << odd;
  ASSERT_EQ(change(client, loggedIn()).status, 200);
  EXPECT_EQ(statusOf(client, crafted(payload(""))), 401);
  EXPECT_EQ(statusOf(client, crafted(payload(R"(,"passwordVersion":0)"))), 401);
  EXPECT_EQ(statusOf(client, crafted(payload(R"(,"passwordVersion":1)"))), 422);
}

TEST_F(PasswordChange, ARepetitionWithItsKeyGetsTheFirstAnswerAlthoughTheTokenHasEnded) {
  auto headers = loggedIn();
  headers["Idempotency-Key"] = "change-" + name;
  const auto first = change(client, headers);
  ASSERT_EQ(first.status, 200);
  EXPECT_EQ(change(client, headers).body, first.body);
  EXPECT_EQ(change(elsewhere, headers).body, first.body);
  EXPECT_TRUE(eventually([&] { return statusOf(elsewhere, headers) == 401; }, kSoon));
  EXPECT_EQ(change(elsewhere, headers).body, first.body);
}

TEST_F(PasswordChange, AnEndedTokenGetsNothingElseWithAKey) {
  auto headers = loggedIn();
  headers["Idempotency-Key"] = "change-" + name;
  ASSERT_EQ(change(client, headers).status, 200);
  expectProblem(change(client, headers, kPassword, "yet-another-password"), 401, "UNAUTHENTICATED");
  expectProblem(change(client, headers, kAnother, "yet-another-password"), 401, "UNAUTHENTICATED");
  expectProblem(client.send("POST", "/announcements", R"({"title":"t","content":"c"})", headers),
                401, "UNAUTHENTICATED");
  headers["Idempotency-Key"] = "unused-" + name;
  expectProblem(change(client, headers, kAnother, "yet-another-password"), 401, "UNAUTHENTICATED");
  EXPECT_EQ(inDatabase("SELECT count(*) FROM idempotency_keys WHERE key = $1", {"unused-" + name}),
            "0");
  EXPECT_EQ(logIn(client, name, kAnother).status, 201);
}

TEST(PasswordChangeWithoutDatabase, TokensAreCheckedByTheLastKnownVersions) {
  PgServer server;
  // Each look at a database that is away takes as long as a request waits for a connection.
  const Service service(server.createDatabase(), patient({{"DATABASE_POOL_TIMEOUT_MS", "2000"}}));
  auto client = service.client();
  const auto token = [&](const std::string& name, const std::string& password) {
    return Headers{{"Authorization",
                    "Bearer " + logIn(client, name, password).json()["accessToken"].asString()}};
  };
  const auto ended = token("council1", "council-demo-1");
  const auto good = token("council2", "council-demo-1");
  ASSERT_EQ(change(client, ended, "council-demo-1").status, 200);
  server.kill();
  EXPECT_TRUE(eventually([&] { return client.get("/readyz").status == 503; }));
  EXPECT_EQ(statusOf(client, ended), 401);
  EXPECT_EQ(statusOf(client, good), 422) << "no database is needed to know this token";
  EXPECT_TRUE(eventually(
      [&] { return service.log().find("changed passwords cannot be read") != std::string::npos; }));
  server.start();
  EXPECT_TRUE(eventually([&] { return client.get("/readyz").status == 200; }));
  PgSession(service.database())
      .run("UPDATE councils SET password_hash = 'x' WHERE username = 'council2'");
  EXPECT_TRUE(eventually([&] { return statusOf(client, good) == 401; }));
  EXPECT_EQ(statusOf(client, ended), 401);
}

// Drogon destroys its clients while the loops still run their timers.
TEST(PasswordWatch, AStopDoesNotMeetALook) {
  const auto database = sharedPg().createDatabase();
  for (int i = 0; i < 10; ++i) Service(database, {{"AUTH_PASSWORD_POLL_MS", "10"}}).stop();
}

TEST(PasswordWatch, AStopWaitsForALookThatIsUnderWay) {
  Service service(sharedPg().createDatabase(), patient());
  PgSession session(service.database());
  PgSession locker(service.database());
  locker.run("BEGIN; LOCK TABLE councils IN ACCESS EXCLUSIVE MODE");
  EXPECT_TRUE(eventually([&] {
    return !session
                .query(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                    " AND application_name = 'festabook-watch' AND wait_event_type = 'Lock'")
                .empty();
  }));
  service.stop();
  locker.run("ROLLBACK");
}

TEST(PasswordGuesses, AreLimitedLikeLogins) {
  const Service service(sharedPg().createDatabase(), patient({{"LIMITS_LOGINS_PER_MINUTE", "3"}}));
  auto client = service.client();
  const auto login = logIn(client, "council1", "council-demo-1");
  const Headers token{{"Authorization", "Bearer " + login.json()["accessToken"].asString()}};
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(change(client, token, "guess-number-" + std::to_string(i)).status, 422);
  const auto limited = change(client, token, "council-demo-1");
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.code(), "RATE_LIMITED");
  EXPECT_GE(std::stoi("0" + limited.header("retry-after")), 1);
  EXPECT_EQ(logIn(client, "council1", "council-demo-1").status, 429) << "one limit for both";
}

TEST(PasswordGuesses, AreCountedByAccountWhereverTheyComeFrom) {
  const Service service(
      sharedPg().createDatabase(),
      patient({{"LIMITS_LOGINS_PER_MINUTE", "3"}, {"HTTP_TRUSTED_PROXIES", "127.0.0.0/8"}}));
  auto client = service.client();
  const auto guess = [&](const std::string& account, int from) {
    auto headers = service.as(account);
    headers["X-Forwarded-For"] = "192.0.2." + std::to_string(from);
    return change(client, headers, "wrong-password").status;
  };
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(guess("council1", i), 422);
  EXPECT_EQ(guess("council1", 4), 429);
  EXPECT_EQ(guess("council2", 5), 422);
}

TEST(PasswordGuesses, WithAnEndedTokenDoNotCountAgainstTheAccount) {
  const Service service(
      sharedPg().createDatabase(),
      patient({{"LIMITS_LOGINS_PER_MINUTE", "2"}, {"HTTP_TRUSTED_PROXIES", "127.0.0.0/8"}}));
  auto client = service.client();
  auto ended = service.as("council1");
  ended["Idempotency-Key"] = "any";
  PgSession(service.database())
      .run("UPDATE councils SET password_version = 1 WHERE username = 'council1'");
  EXPECT_TRUE(eventually([&] { return statusOf(client, ended) == 401; }));
  for (int i = 1; i <= 5; ++i) {
    ended["X-Forwarded-For"] = "192.0.2." + std::to_string(i);
    EXPECT_EQ(change(client, ended, "a-guess").status, 401);
  }
  EXPECT_EQ(change(client, service.as("council1"), "council-demo-1").status, 200);
}

}  // namespace festa::test
