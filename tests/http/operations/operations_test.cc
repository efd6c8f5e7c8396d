#include "tests/http/api_test.h"
#include "tests/support/loops.h"

#include <array>
#include <atomic>
#include <sstream>
#include <thread>

namespace festa::test {

using namespace std::string_literals;

namespace {

const std::string kUnpinned = R"({"title":"t","content":"c","isPinned":false})";
const std::string kOrigin = "https://a.example";
const std::string kSecretTitle = "a title that no log may show";
const std::string kSecretPassword = "a-password-that-no-log-may-show";

class OperationsTest : public ApiTest {
 protected:
  Response create() {
    return call("POST", "/announcements",
                R"({"title":")" + kSecretTitle + R"(","content":"c","isPinned":true})");
  }
};

class CorsTest : public ApiTest {
 protected:
  static void SetUpTestSuite() {
    service =
        std::make_unique<Service>(sharedPg().createDatabase(),
                                  patient({{"HTTP_CORS_ORIGINS", kOrigin + ",https://b.example"}}));
  }
  Response preflight(const std::string& path, const std::string& origin) {
    return client.request("OPTIONS", path,
                          {{"Origin", origin}, {"Access-Control-Request-Method", "PATCH"}});
  }
  Response read(const std::string& origin) {
    return client.get("/announcements",
                      {{"festival", std::to_string(festival)}, {"Origin", origin}});
  }
};

std::vector<Json::Value> linesOf(const std::string& log) {
  std::vector<Json::Value> lines;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    EXPECT_TRUE(utf8Length(line)) << line;
    lines.push_back(Response{.status = 0, .headers = {}, .body = line}.json());
  }
  return lines;
}

// A metric of this suite's only kind of lock in place of "%".
std::string labelled(std::string metric) {
  return metric.replace(metric.find('%'), 1, R"(lockable="announcement-pins",strategy="memory")");
}

// 0 when it has not been counted yet.
double valueOf(const std::string& metrics, const std::string& metric) {
  const auto at = metrics.find("\n" + metric + " ");
  return at == std::string::npos ? 0 : std::stod(metrics.substr(at + metric.size() + 2));
}

}  // namespace

TEST_F(OperationsTest, HealthIsAlive) {
  const auto response = client.get("/healthz");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.json()["status"].asString(), "alive");
}

TEST_F(OperationsTest, ReadinessIsReadyAndNotDegraded) {
  const auto response = client.get("/readyz");
  EXPECT_EQ(response.status, 200);
  ASSERT_TRUE(response.json()["degraded"].isArray());
  EXPECT_TRUE(response.json()["degraded"].empty());
}

// A proxy would take busy instances for dead ones, and answer for all of them.
TEST(Readiness, ABusyPoolDoesNotFailReadiness) {
  const Service service(sharedPg().createDatabase(),
                        patient({{"DATABASE_CONNECTIONS", "2"},
                                 {"HTTP_THREADS", "1"},
                                 {"DATABASE_POOL_TIMEOUT_MS", "2000"},
                                 {"DATABASE_LOCK_TIMEOUT_MS", "500"}}));
  PgSession other(service.database());
  other.run("BEGIN; LOCK TABLE performances");
  std::atomic<bool> enough{false};
  std::vector<std::jthread> crowd;
  // Each asks for another one: requests for the same share a query.
  for (int i = 2; i < 34; ++i)
    crowd.emplace_back([&, path = "/performances/" + std::to_string(i)] {
      auto client = service.client();
      while (!enough) client.get(path);
    });
  auto client = service.client();
  EXPECT_TRUE(eventually([&] {
    return client.get("/performances/1").json()["code"].asString() == "OVERLOADED";
  })) << "no request waited too long for a connection: the test proves nothing";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.get("/readyz").status, 200);
  enough = true;
}

TEST_F(OperationsTest, MetricsCountRequestsAndLocks) {
  ASSERT_EQ(create().status, 201);
  const auto response = client.get("/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.header("content-type"), testing::StartsWith("text/plain; version=0.0.4"));
  const auto text = service->metrics();
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "festa_http_requests_total[{][^}]*route=\"/announcements\"[^}]*status=\"201\""));
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "festa_lock_requests_total[{][^}]*announcement-pins[^}]*outcome=\"released\""));
}

TEST_F(OperationsTest, MetricsShowLocksByLockableAndStrategyAndNeverByKey) {
  ASSERT_EQ(create().status, 201);
  const auto text = service->metrics();
  for (const auto* line : {"festa_lock_holders{%} 0\n", "festa_lock_waiting{%} 0\n",
                           "festa_lock_wait_seconds_count{%} ", "festa_lock_hold_seconds_count{%} ",
                           "festa_pool_wait_seconds_count{%} "})
    EXPECT_THAT(text, testing::HasSubstr(labelled(line)));
  EXPECT_EQ(text.find("announcement:"), std::string::npos) << "a lock's key";
  EXPECT_EQ(text.find("festa_lock_memory_waiters"), std::string::npos);
}

TEST_F(OperationsTest, MetricsCountFencesThatWereInTheWay) {
  ASSERT_EQ(create().status, 201);
  const auto id = std::to_string(festival);
  inDatabase("UPDATE festivals SET fence = fence + 100 WHERE id = $1::bigint RETURNING id", {id});
  const auto before = service->metrics();
  ASSERT_EQ(create().status, 201) << "the lock is ours: a larger token is to be had";
  const auto renewed = service->metrics();
  EXPECT_EQ(valueOf(renewed, labelled("festa_fence_refused_total{%}")),
            valueOf(before, labelled("festa_fence_refused_total{%}")) + 1);
  EXPECT_EQ(valueOf(renewed, labelled("festa_fence_renewed_total{%}")),
            valueOf(before, labelled("festa_fence_renewed_total{%}")) + 1);
  // Of a later epoch: written by a process whose storage started after ours.
  inDatabase(
      "UPDATE festivals SET fence = fence + (9::bigint << 32) WHERE id = $1::bigint"
      " RETURNING id",
      {id});
  expectProblem(create(), 503, "LOCK_LOST");
  const auto lost = service->metrics();
  EXPECT_EQ(valueOf(lost, labelled("festa_fence_refused_total{%}")),
            valueOf(renewed, labelled("festa_fence_refused_total{%}")) + 1);
  EXPECT_EQ(valueOf(lost, labelled("festa_fence_renewed_total{%}")),
            valueOf(renewed, labelled("festa_fence_renewed_total{%}")));
}

TEST_F(OperationsTest, LocksAreLoggedWithTheirTimesAndFence) {
  auto headers = council;
  headers["X-Request-Id"] = "find-my-lock";
  client.send("POST", "/announcements", kUnpinned, headers);
  Json::Value found;
  for (const auto& line : linesOf(service->log()))
    if (line["request_id"].asString() == "find-my-lock" && line["event"].asString() == "lock")
      found = line;
  EXPECT_EQ(found["outcome"].asString(), "released");
  for (const auto* name : {"wait_ms", "hold_ms", "pool_wait_ms"})
    EXPECT_TRUE(found[name].isDouble() && found[name].asDouble() >= 0) << name << found;
  EXPECT_LT(found["pool_wait_ms"].asDouble(), found["hold_ms"].asDouble());
  EXPECT_EQ(
      found["fence"].asString(),
      inDatabase("SELECT fence FROM festivals WHERE id = $1::bigint", {std::to_string(festival)}));
}

// What the history checker reads: holds of one key, on the clock that all processes share.
TEST_F(OperationsTest, LocksAreLoggedSoThatTheirHoldsCanBeCompared) {
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  for (const auto* id : {"hold-1", "hold-2"}) {
    auto headers = council;
    headers["X-Request-Id"] = id;
    client.send("POST", "/announcements", kUnpinned, headers);
  }
  auto elsewhere = service->newFestival();
  elsewhere["X-Request-Id"] = "hold-3";
  client.send("POST", "/announcements", kUnpinned, elsewhere);
  std::map<std::string, Json::Value> found;
  for (const auto& line : linesOf(service->log()))
    if (line["event"].asString() == "lock") found[line["request_id"].asString()] = line;
  const auto nanos = [&](const char* who, const char* what) { return found[who][what].asInt64(); };
  EXPECT_LT(std::chrono::nanoseconds(before).count(), nanos("hold-1", "granted_ns"));
  EXPECT_LT(nanos("hold-1", "granted_ns"), nanos("hold-1", "ended_ns"));
  EXPECT_LT(nanos("hold-1", "ended_ns"), nanos("hold-2", "granted_ns"));
  EXPECT_EQ(found["hold-1"]["key"], found["hold-2"]["key"]);
  EXPECT_NE(found["hold-1"]["key"], found["hold-3"]["key"]);
}

// A lease of 9 s is renewed after 3 s; the handler takes 3.6 s, and the database lets its
// transaction stand idle for 6.3 s.
TEST(Renewals, AreCountedAndTheWriteIsStored) {
  Service service(sharedPg().createDatabase(),
                  patient({{"LAB", "true"},
                           {"DATABASE_POOL_TIMEOUT_MS", "750"},
                           {"DATABASE_STATEMENT_TIMEOUT_MS", "300"},
                           {"DATABASE_COMMIT_TIMEOUT_MS", "6000"},
                           {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_LEASE_MS", "9000"},
                           {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_MAX_HOLD_MS", "20000"}}));
  auto headers = service.newFestival();
  headers["X-Lab-Fault"] = "pause-before-commit=3600";
  auto client = service.client();
  Response answer;
  double before = 0;
  double renewed = 0;
  // On a busy machine a statement may take too long, or a timer be late. Not in every round.
  for (int round = 0; round < 3 && (answer.status != 201 || renewed <= before); ++round) {
    before = renewed;
    answer = client.send("POST", "/announcements", R"({"title":"t","content":"c","isPinned":true})",
                         headers);
    renewed = valueOf(service.metrics(),
                      R"(festa_lock_renewals_total{lockable="announcement-pins",outcome="renewed",)"
                      R"(strategy="memory"})");
  }
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_GT(renewed, before) << "the lease was not renewed";
}

TEST_F(OperationsTest, RequestIdIsMadeAnewForEachRequest) {
  const auto first = client.get("/healthz").header("x-request-id");
  const auto second = client.get("/healthz").header("x-request-id");
  EXPECT_GE(first.size(), 16U);
  EXPECT_NE(first, second);
}

TEST_F(OperationsTest, SaneRequestIdIsEchoed) {
  for (const auto& id : {std::string("abc-123_X.y"), std::string(64, 'a')})
    EXPECT_EQ(client.get("/healthz", {{"X-Request-Id", id}}).header("x-request-id"), id);
  EXPECT_EQ(client.get("/nowhere", {{"X-Request-Id", "me"}}).header("x-request-id"), "me");
}

TEST_F(OperationsTest, RequestIdThatIsNotSaneIsReplaced) {
  using namespace std::string_literals;
  for (const auto& id :
       {"a b"s, "a\"b"s, "{}"s, "a,b"s, "a\0b"s, "한글"s, "\xff"s, ""s, std::string(65, 'a')}) {
    const auto answered = client.get("/healthz", {{"X-Request-Id", id}}).header("x-request-id");
    EXPECT_NE(answered, id);
    EXPECT_THAT(answered, testing::MatchesRegex("[0-9a-f]{16,64}"));
  }
}

TEST_F(OperationsTest, EveryAnswerHasARequestId) {
  for (const auto* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    for (const auto* path :
         {"/", "/healthz", "/announcements", "/announcements/1/pin", "/nowhere", "/*"})
      EXPECT_FALSE(client.request(method, path).header("x-request-id").empty())
          << method << ' ' << path;
}

TEST_F(OperationsTest, NoAnswerLetsABrowserGuessItsType) {
  for (const auto* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    for (const auto* path : {"/", "/healthz", "/metrics", "/docs", "/lab", "/openapi.json",
                             "/announcements", "/councils/login", "/nowhere", "/*"})
      EXPECT_EQ(client.request(method, path).header("x-content-type-options"), "nosniff")
          << method << ' ' << path;
  const auto docs = client.get("/docs");
  const auto unchanged = client.get("/docs", {{"If-None-Match", docs.header("etag")}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.header("x-content-type-options"), "nosniff");
  const auto preflight = client.request(
      "OPTIONS", "/announcements", {{"Origin", kOrigin}, {"Access-Control-Request-Method", "GET"}});
  EXPECT_EQ(preflight.header("x-content-type-options"), "nosniff");
  const auto tooLong = client.get('/' + repeated("x", 2000));
  EXPECT_EQ(tooLong.header("x-content-type-options"), "nosniff");
}

TEST_F(OperationsTest, AnswersToLoginsAreNotStored) {
  const auto stored = [this](const std::string& path, const std::string& body) {
    return client.send("POST", path, body).header("cache-control");
  };
  EXPECT_EQ(stored("/councils/login", R"({"username":"admin","password":"admin-demo-1"})"),
            "no-store");
  EXPECT_EQ(stored("/councils/login", R"({"username":"admin","password":"wrong"})"), "no-store");
  EXPECT_EQ(stored("/councils/login", "{}"), "no-store");
  EXPECT_EQ(stored("/councils/login", "{"), "no-store");
  EXPECT_EQ(stored("/users/login", R"({"userId":"user1","userPw":"user-demo-1"})"), "no-store");
  EXPECT_EQ(stored("/users/login", R"({"userId":"user1","userPw":"wrong"})"), "no-store");
}

TEST_F(OperationsTest, HeadAnswersLikeGetWithoutTheBody) {
  const Headers headers{{"festival", std::to_string(festival)}};
  for (const auto* path : {"/healthz", "/festivals", "/announcements"}) {
    const auto get = client.get(path, headers);
    const auto head = client.request("HEAD", path, headers);
    EXPECT_EQ(head.status, 200) << path;
    EXPECT_EQ(head.header("content-length"), get.header("content-length"));
    EXPECT_EQ(head.header("content-type"), get.header("content-type"));
    EXPECT_EQ(client.get(path, headers).body, get.body) << "the answer to HEAD had a body";
  }
  EXPECT_EQ(client.request("HEAD", "/announcements").status, 400);
  EXPECT_EQ(client.request("HEAD", "/nowhere").status, 404);
}

TEST_F(OperationsTest, UnknownPathsAreProblems) {
  for (const auto* path : {"/nowhere", "/announcements/1/2/3", "/seats", "/seats/1/2", "/council/",
                           "/assets", "/ANNOUNCEMENTS", "//announcements", "/healthz/x",
                           "/index.html", "/../etc/passwd", "/favicon.ico", "/councils/login/x"})
    for (const auto* method : {"GET", "POST", "DELETE"}) {
      SCOPED_TRACE(std::string(method) + path);
      expectProblem(client.request(method, path), 404, "ROUTE_NOT_FOUND");
    }
}

TEST_F(OperationsTest, WrongMethodsAreProblemsThatNameTheRightOnes) {
  const std::vector<std::array<std::string, 3>> rows{{"PUT", "/announcements", "POST, GET"},
                                                     {"DELETE", "/announcements", "POST, GET"},
                                                     {"GET", "/announcements/1", "PATCH, DELETE"},
                                                     {"POST", "/announcements/1", "PATCH, DELETE"},
                                                     {"POST", "/announcements/1/pin", "PATCH"},
                                                     {"GET", "/announcements/1/pin", "PATCH"},
                                                     {"GET", "/councils/login", "POST"},
                                                     {"POST", "/councils/password", "PATCH"},
                                                     {"POST", "/healthz", "GET"}};
  for (const auto& [method, path, allow] : rows) {
    SCOPED_TRACE(method + path);
    const auto response = client.request(method, path);
    expectProblem(response, 405, "METHOD_NOT_ALLOWED");
    EXPECT_THAT(response.header("allow"), testing::HasSubstr(allow));
  }
}

TEST_F(OperationsTest, ProblemsSpeakKoreanUnlessEnglishIsAskedFor) {
  const auto message = [this](const Headers& headers) {
    return client.get("/nowhere", headers).json()["message"].asString();
  };
  const auto korean = message({});
  EXPECT_GT(korean.size(), *utf8Length(korean)) << "not Korean: " << korean;
  EXPECT_EQ(message({{"Accept-Language", "ko-KR,ko;q=0.9,en;q=0.8"}}), korean);
  EXPECT_EQ(message({{"Accept-Language", "fr"}}), korean);
  const auto english = message({{"Accept-Language", "en"}});
  EXPECT_EQ(english.size(), *utf8Length(english)) << "not English: " << english;
  EXPECT_EQ(message({{"Accept-Language", "en-US,en;q=0.9,ko;q=0.8"}}), english);
}

TEST_F(OperationsTest, FieldMessagesFollowTheLanguage) {
  const auto message = [this](Headers headers) {
    return client.send("POST", "/councils/login", "{}", std::move(headers))
        .json()["errors"][0]["message"]
        .asString();
  };
  EXPECT_GT(message({}).size(), *utf8Length(message({})));
  EXPECT_EQ(message({{"Accept-Language", "en"}}), "is required");
}

TEST_F(OperationsTest, DefaultServiceNeverReflectsAnOrigin) {
  const auto read = client.get("/healthz", {{"Origin", kOrigin}});
  EXPECT_EQ(read.header("access-control-allow-origin"), "");
  const auto preflight =
      client.request("OPTIONS", "/announcements",
                     {{"Origin", kOrigin}, {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(preflight.header("access-control-allow-origin"), "");
}

TEST_F(OperationsTest, OptionsOfAPathNamesItsMethods) {
  const auto response = client.request("OPTIONS", "/announcements/7");
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.header("allow"), "PATCH, DELETE");
  expectProblem(client.request("OPTIONS", "/nowhere"), 404, "ROUTE_NOT_FOUND");
}

TEST_F(OperationsTest, LogIsOneObjectPerLineAndNamesTheRequest) {
  auto headers = council;
  headers["X-Request-Id"] = "find-me-in-the-log";
  client.request("DELETE", "/announcements/999999", headers);
  Json::Value found;
  for (const auto& line : linesOf(service->log())) {
    ASSERT_TRUE(line.isObject());
    EXPECT_TRUE(line["time"].isString() && line["level"].isString() && line["event"].isString())
        << line;
    if (line["request_id"].asString() == "find-me-in-the-log" &&
        line["event"].asString() == "request")
      found = line;
  }
  EXPECT_EQ(found["method"].asString(), "DELETE");
  EXPECT_EQ(found["route"].asString(), "/announcements/{id}");
  EXPECT_EQ(found["status"].asInt(), 404);
}

TEST_F(OperationsTest, LogNeverShowsPasswordsTokensOrBodies) {
  const auto name = "secretive-" + std::to_string(festival);
  const auto credentials =
      R"({"username":")" + name + R"(","password":")" + kSecretPassword + R"("})";
  ASSERT_EQ(create().status, 201);
  ASSERT_EQ(asAdmin("POST", "/councils",
                    R"({"festivalId":1,"username":")" + name + R"(","password":")" +
                        kSecretPassword + R"("})")
                .status,
            201);
  const auto token =
      client.send("POST", "/councils/login", credentials).json()["accessToken"].asString();
  client.send("POST", "/councils/login",
              R"({"username":"x","password":")" + kSecretPassword + R"("})");
  client.send("PATCH", "/councils/password",
              R"({"currentPassword":"no","newPassword":")" + kSecretPassword + R"("})",
              bearing(token));
  client.send("POST", "/announcements", R"({"title":")" + kSecretTitle, council);
  client.request("POST", "/announcements?password=" + kSecretPassword, bearing(token + "x"));
  const auto log = service->log();
  ASSERT_FALSE(log.empty());
  for (const auto& text :
       {kSecretPassword, kSecretTitle, token, council.at("Authorization").substr(7)})
    EXPECT_EQ(log.find(text), std::string::npos) << text;
  EXPECT_EQ(log.find("Bearer"), std::string::npos);
}

TEST_F(CorsTest, PreflightOfAnAllowedOriginIsAnsweredAndMayBeCached) {
  const auto response = preflight("/announcements/1", kOrigin);
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.header("access-control-allow-origin"), kOrigin);
  EXPECT_THAT(response.header("vary"), testing::HasSubstr("Origin"));
  EXPECT_THAT(response.header("access-control-allow-methods"), testing::HasSubstr("PATCH"));
  for (const auto* name : {"Authorization", "Content-Type", "festival", "Idempotency-Key",
                           "If-None-Match", "Accept-Language", "X-Request-Id"})
    EXPECT_THAT(response.header("access-control-allow-headers"), testing::HasSubstr(name));
  EXPECT_GT(std::stoi("0" + response.header("access-control-max-age")), 0);
}

// A refused preflight would show the client a CORS error in place of the real answer.
TEST_F(CorsTest, PreflightsSucceedOnEveryPath) {
  for (const auto& path : {"/nowhere"s, "/"s, "//announcements"s, "/announcements/1/2/3"s,
                           "/ANNOUNCEMENTS"s, "/api/nowhere"s, '/' + repeated("x", 2000)}) {
    SCOPED_TRACE(path.substr(0, 40));
    const auto response = preflight(path, kOrigin);
    EXPECT_EQ(response.status, 204);
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(response.header("access-control-allow-origin"), kOrigin);
    for (const auto* method : {"GET", "POST", "PATCH", "DELETE"})
      EXPECT_THAT(response.header("access-control-allow-methods"), testing::HasSubstr(method));
    EXPECT_THAT(response.header("access-control-allow-headers"),
                testing::HasSubstr("Authorization"));
    EXPECT_GT(std::stoi("0" + response.header("access-control-max-age")), 0);
  }
  const auto real = client.get("/nowhere", {{"Origin", kOrigin}});
  expectProblem(real, 404, "ROUTE_NOT_FOUND");
  EXPECT_EQ(real.header("access-control-allow-origin"), kOrigin);
}

// The browser would hide a 405 behind a CORS error as well.
TEST_F(CorsTest, PreflightOfAMethodThatThePathLacksSucceeds) {
  const auto response =
      client.request("OPTIONS", "/announcements",
                     {{"Origin", kOrigin}, {"Access-Control-Request-Method", "DELETE"}});
  EXPECT_EQ(response.status, 204);
  EXPECT_THAT(response.header("access-control-allow-methods"), testing::HasSubstr("DELETE"));
}

TEST_F(CorsTest, AllowedOriginsMayReadAnswersAndTheirHeaders) {
  for (const auto& origin : {kOrigin, std::string("https://b.example")}) {
    const auto response = read(origin);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.header("access-control-allow-origin"), origin);
    EXPECT_THAT(response.header("vary"), testing::HasSubstr("Origin"));
    for (const auto* name : {"ETag", "Link", "Location", "Retry-After", "X-Request-Id"})
      EXPECT_THAT(response.header("access-control-expose-headers"), testing::HasSubstr(name));
  }
}

TEST_F(CorsTest, AllowedOriginsMayReadProblems) {
  for (const auto* path : {"/nowhere", "/announcements"}) {
    const auto response = client.request("DELETE", path, {{"Origin", kOrigin}});
    EXPECT_GE(response.status, 400);
    EXPECT_EQ(response.header("access-control-allow-origin"), kOrigin) << path;
  }
}

TEST_F(CorsTest, OtherOriginsGetNoPermission) {
  for (const auto* origin :
       {"https://evil.example", "https://a.example.evil.example", "https://a.exampl", "null",
        "http://a.example", "https://A.example", "*"}) {
    EXPECT_EQ(read(origin).header("access-control-allow-origin"), "") << origin;
    EXPECT_EQ(preflight("/announcements/1", origin).header("access-control-allow-origin"), "")
        << origin;
  }
}

}  // namespace festa::test
