// Claims that wait in a queue, over HTTP: the local one.
#include "tests/http/api_test.h"
#include "tests/support/http/crowd.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"

#include <thread>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

Headers queued(std::int64_t user) {
  auto headers = Sales::as(user);
  headers["X-Concurrency"] = "queue-local";
  return headers;
}

class ClaimApi : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(),
                                     patient({{"LAB", "true"}, {"QUEUE_WORK_MS", "50"}}));
  }
  static void TearDownTestSuite() { lab_.reset(); }

  ClaimApi() : sales_(lab_->database()), client_(lab_->port()) {}

  Response claim(std::int64_t coupon, std::int64_t user) {
    return client_.request("POST", "/coupons/" + std::to_string(coupon) + "/claims", queued(user));
  }
  Json::Value poll(const std::string& location, std::int64_t user) {
    return client_.get(location, Sales::as(user)).json();
  }
  Json::Value finished(const std::string& location, std::int64_t user) {
    Json::Value view;
    EXPECT_TRUE(eventually([&] {
      view = poll(location, user);
      return view["state"].asString() == "DONE" || view["state"].asString() == "FAILED";
    })) << view;
    return view;
  }

  static inline std::unique_ptr<Service> lab_;
  const Sales sales_;
  HttpClient client_;
};

}  // namespace

TEST_F(ClaimApi, AClaimIsAcceptedDecidedAndDone) {
  const auto coupon = sales_.coupon(1, true);
  const auto accepted = claim(coupon, 1);
  ASSERT_EQ(accepted.status, 202) << accepted.body;
  const auto json = accepted.json();
  EXPECT_EQ(namesIn(json), (std::set<std::string>{"claimId", "state", "ahead"}));
  EXPECT_EQ(json["state"].asString(), "NEW");
  const auto location = accepted.header("location");
  EXPECT_EQ(location, "/coupons/claims/" + json["claimId"].asString());
  const auto done = finished(location, 1);
  EXPECT_EQ(namesIn(done),
            (std::set<std::string>{"claimId", "state", "ahead", "sequence", "code"}));
  EXPECT_EQ(done["state"].asString(), "DONE");
  EXPECT_EQ(done["sequence"].asInt(), 1);
  EXPECT_EQ(done["ahead"].asInt(), 0);
  EXPECT_TRUE(done["code"].isNull());

  const auto late = claim(coupon, 2);
  ASSERT_EQ(late.status, 202);
  const auto failed = finished(late.header("location"), 2);
  EXPECT_EQ(failed["state"].asString(), "FAILED");
  EXPECT_EQ(failed["code"].asString(), "COUPON_SOLD_OUT");
  EXPECT_TRUE(failed["sequence"].isNull());
}

TEST_F(ClaimApi, EveryRefusalHasTheCodeOfTheContract) {
  const auto coupon = sales_.coupon(5, true);
  const auto location = claim(coupon, 1).header("location");
  expectProblem(claim(coupon, 1), 409, "ALREADY_CLAIMED");
  expectProblem(claim(999'999, 1), 404, "COUPON_NOT_FOUND");
  expectProblem(claim(coupon, 1'000'000), 404, "USER_NOT_FOUND");
  expectProblem(client_.get(location, Sales::as(2)), 403, "FORBIDDEN");
  expectProblem(client_.get(location), 401, "UNAUTHENTICATED");
  expectProblem(client_.get("/coupons/claims/999999", Sales::as(1)), 404, "CLAIM_NOT_FOUND");
  expectProblem(client_.get("/coupons/claims/x", Sales::as(1)), 400, "INVALID_PARAMETER");
  expectProblem(client_.get(location + "/events", Sales::as(2)), 403, "FORBIDDEN");
  auto headers = lab_->newFestival();
  headers["X-Concurrency"] = "queue-local";
  expectProblem(client_.send("POST", "/announcements",
                             R"({"title":"a","content":"b","isPinned":true})", headers),
                400, "INVALID_PARAMETER");
}

TEST_F(ClaimApi, EventsTellEveryChangeToTheEnd) {
  const auto coupon = sales_.coupon(1, true);
  const auto location = claim(coupon, 1).header("location");
  const auto events = client_.get(location + "/events", Sales::as(1));
  EXPECT_EQ(events.status, 200);
  EXPECT_THAT(events.header("content-type"), testing::StartsWith("text/event-stream"));
  EXPECT_THAT(events.body, testing::HasSubstr(R"("state":"DONE")"));
  EXPECT_THAT(events.body, testing::StartsWith("data: {"));
}

TEST_F(ClaimApi, ARepeatedKeyGetsTheSameClaim) {
  const auto coupon = sales_.coupon(5, false);
  auto headers = queued(1);
  headers["Idempotency-Key"] = "queued-once";
  const auto path = "/coupons/" + std::to_string(coupon) + "/claims";
  const auto first = client_.request("POST", path, headers);
  const auto second = client_.request("POST", path, headers);
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(second.status, 202);
  EXPECT_EQ(first.body, second.body);
  EXPECT_EQ(first.header("location"), second.header("location"));
  EXPECT_EQ(
      sales_.number("SELECT count(*) FROM coupon_claims WHERE coupon_id = $1::bigint", coupon), 1);
}

// Drogon streams neither to HEAD nor over connections that close; such answers take no place for
// long.
TEST(ClaimEvents, WithoutAStreamAreOneEventAndTakeNoPlace) {
  const Service lab(
      sharedPg().createDatabase(),
      patient({{"LAB", "true"}, {"QUEUE_MAX_STREAMS", "1"}, {"QUEUE_WORK_MS", "1500"}}));
  const auto coupon = Sales(lab.database()).coupon(1, true);
  const auto location =
      lab.client()
          .request("POST", "/coupons/" + std::to_string(coupon) + "/claims", queued(1))
          .header("location");
  auto closing = Sales::as(1);
  closing["Connection"] = "close";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(lab.client().request("HEAD", location + "/events", Sales::as(1)).status, 200);
    const auto once = lab.client().get(location + "/events", closing);
    EXPECT_EQ(once.status, 200);
    EXPECT_THAT(once.body, testing::StartsWith("data: {"));
  }
  const auto events = lab.client().get(location + "/events", Sales::as(1));
  EXPECT_THAT(events.body, testing::HasSubstr(R"("state":"DONE")"));
}

TEST(ClaimEvents, AreBoundedInNumber) {
  const Service lab(sharedPg().createDatabase(),
                    patient({{"LAB", "true"}, {"QUEUE_MAX_STREAMS", "0"}}));
  const auto coupon = Sales(lab.database()).coupon(1, true);
  const auto location =
      lab.client()
          .request("POST", "/coupons/" + std::to_string(coupon) + "/claims", queued(1))
          .header("location");
  const auto refused = lab.client().get(location + "/events", Sales::as(1));
  expectProblem(refused, 503, "OVERLOADED");
  EXPECT_FALSE(refused.header("retry-after").empty());
}

namespace {

// Event streams of claims that stay undecided for as long as the test takes.
class ClaimStreamLimits : public testing::Test {
 protected:
  std::string newClaim(std::int64_t user) {
    const auto path = "/coupons/" + std::to_string(sales_.coupon(1, true)) + "/claims";
    const auto answer = lab_.client().request("POST", path, queued(user));
    EXPECT_EQ(answer.status, 202) << answer.body;
    return answer.header("location") + "/events";
  }
  // Asks for a stream. False: it was refused.
  static bool begins(RawSocket& stream, const std::string& path, const Headers& headers) {
    stream.send("GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: " +
                headers.at("Authorization") + "\r\n\r\n");
    return stream.readUntil("\r\n\r\n", 1, 10s) && stream.received().starts_with("HTTP/1.1 200") &&
           stream.readUntil("data: {", 1, 10s);
  }
  // A stream that has begun.
  RawSocket watch(const std::string& path, const Headers& headers) const {
    RawSocket stream(lab_.port());
    EXPECT_TRUE(begins(stream, path, headers)) << stream.received();
    return stream;
  }
  std::vector<RawSocket> watchOften(std::int64_t user, int times) {
    const auto path = newClaim(user);
    std::vector<RawSocket> streams;
    for (int i = 0; i < times; ++i) streams.push_back(watch(path, Sales::as(user)));
    return streams;
  }
  // Without status when it is a stream, which does not end.
  Response refused(std::int64_t user) {
    return HttpClient(lab_.port(), 10).get(newClaim(user), Sales::as(user));
  }
  static Headers endingIn(std::chrono::seconds time, std::int64_t user) {
    const TokenService tokens(serviceEnvironment({}, 1, {}).at("FESTA_AUTH_JWT_SECRET"), time);
    return {{"Authorization",
             "Bearer " + tokens.issue({"user1", user, Realm::kUser, {}, {"ROLE_USER"}})}};
  }

  const Service lab_{
      sharedPg().createDatabase(),
      patient({{"LAB", "true"}, {"QUEUE_MAX_STREAMS", "12"}, {"QUEUE_WORK_MS", "600000"}})};
  const Sales sales_{lab_.database()};
};

}  // namespace

TEST_F(ClaimStreamLimits, OneUserHasFiveAndOthersHaveTheirOwn) {
  const auto greedy = watchOften(1, 5);
  for (int i = 0; i < 10; ++i) {
    const auto answer = refused(1);
    expectProblem(answer, 429, "RATE_LIMITED");
    EXPECT_FALSE(answer.header("retry-after").empty());
  }
  const auto other = watchOften(2, 5);
  const auto third = watchOften(3, 2);
  expectProblem(refused(4), 503, "OVERLOADED");
}

TEST_F(ClaimStreamLimits, AReaderThatGoesMakesRoomAtOnce) {
  auto streams = watchOften(1, 5);
  const auto path = newClaim(1);
  streams.pop_back();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] {
    RawSocket stream(lab_.port());
    return begins(stream, path, Sales::as(1));
  }));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST_F(ClaimStreamLimits, AStreamEndsWithItsToken) {
  const auto path = newClaim(1);
  const auto began = std::chrono::steady_clock::now();
  // Long enough that a stalled machine sees the stream begin.
  auto brief = watch(path, endingIn(5s, 1));
  auto again = watch(path, endingIn(5s, 1));  // perhaps the same token, known by now
  auto longer = watch(path, endingIn(3600s, 1));
  for (auto* stream : {&brief, &again}) {
    EXPECT_TRUE(stream->readUntil("\r\n0\r\n\r\n", 1, 10s)) << stream->received();
    EXPECT_EQ(occurrences(stream->received(), "DONE"), 0);
  }
  const auto taken = std::chrono::steady_clock::now() - began;
  EXPECT_GE(taken, 3900ms) << "exp has whole seconds";
  EXPECT_LT(taken, 12s);
  EXPECT_FALSE(longer.readUntil("\r\n0\r\n\r\n", 1, 500ms)) << "its token goes on";
  const auto full = watchOften(1, 4);  // the two places are free again
}

namespace {

// The path of user 1's claim, whose work has begun.
std::string claimInWork(HttpClient& client, std::int64_t coupon) {
  const auto path = "/coupons/" + std::to_string(coupon) + "/claims";
  auto location = client.request("POST", path, queued(1)).header("location");
  EXPECT_TRUE(eventually([&] {
    return client.get(location, Sales::as(1)).json()["state"].asString() == "PROCESSED";
  }));
  return location;
}

}  // namespace

// What was accepted survives the process: SIGKILL in the middle, then another one.
TEST(LocalClaimQueue, AcceptedClaimsSurviveAKillInOrder) {
  const auto database = sharedPg().createDatabase();
  // So slow that work is left at the kill, however long the claims take to come in. The sweep is
  // for what a broker may lose.
  auto settings = patient({{"LAB", "true"},
                           {"QUEUE_WORK_MS", "500"},
                           {"QUEUE_WORKERS", "2"},
                           {"QUEUE_SWEEP_SECONDS", "3600"}});
  auto doomed = std::make_unique<Service>(database, settings);
  const Sales sales(database);
  constexpr int kClaims = 200;
  sales.haveUsers(kClaims);
  const auto coupon = sales.coupon(kClaims - 20, true);
  auto client = doomed->client();
  for (int user = 1; user <= kClaims; ++user)
    ASSERT_EQ(client.request("POST", "/coupons/" + std::to_string(coupon) + "/claims", queued(user))
                  .status,
              202);
  doomed->kill();
  const auto unfinished = [&] {
    return sales.number(
        "SELECT count(*) FROM coupon_claims WHERE state IN ('NEW', 'PROCESSED')"
        " AND coupon_id = $1::bigint",
        coupon);
  };
  ASSERT_GT(unfinished(), 0) << "it was killed too late to see anything";
  settings["QUEUE_WORK_MS"] = "5";
  const Service restarted(database, settings);
  EXPECT_TRUE(eventually([&] { return unfinished() == 0; }));
  EXPECT_EQ(sales.number("SELECT count(*) FROM coupon_claims WHERE state = 'DONE'"
                         " AND coupon_id = $1::bigint",
                         coupon),
            kClaims - 20);
  EXPECT_EQ(
      sales.number("SELECT count(*) FROM (SELECT sequence, row_number() OVER (ORDER BY id) AS"
                   " place FROM coupon_claims WHERE coupon_id = $1::bigint AND sequence IS NOT"
                   " NULL) AS claims WHERE sequence <> place",
                   coupon),
      0)
      << "not in order of arrival, or with a gap";
}

// Work may take two seconds more.
TEST(LocalClaimQueue, AStopFinishesTheWorkThatHasBegun) {
  // Longer than the metrics are old when they are read, and shorter than a stop waits for work.
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"}, {"QUEUE_WORK_MS", "1800"}}));
  const Sales sales(lab.database());
  const auto coupon = sales.coupon(1, true);
  auto client = lab.client();
  claimInWork(client, coupon);
  // A claim is PROCESSED a moment before the queue begins its work.
  EXPECT_TRUE(eventually([&] {
    return client.get("/metrics").body.find("festa_queue_in_work{queue=\"queue-local\"} 1") !=
           std::string::npos;
  }));
  lab.stop();
  EXPECT_EQ(sales.number("SELECT count(*) FROM coupon_claims WHERE state = 'DONE'"
                         " AND coupon_id = $1::bigint",
                         coupon),
            1);
}

TEST(LocalClaimQueue, UnfinishedClaimsExpireAndTheirUnitsReturn) {
  const Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"},
                                                          {"QUEUE_CLAIM_TIMEOUT_SECONDS", "60"},
                                                          {"QUEUE_SWEEP_SECONDS", "1"},
                                                          {"QUEUE_WORK_MS", "60000"}}));
  const Sales sales(lab.database());
  const auto coupon = sales.coupon(3, true);
  auto client = lab.client();
  const auto location = claimInWork(client, coupon);
  EXPECT_EQ(sales.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon), 2);
  PgSession(lab.database())
      .run("UPDATE coupon_claims SET created_at = created_at - interval '61 seconds'");
  Json::Value view;
  EXPECT_TRUE(eventually([&] {
    view = client.get(location, Sales::as(1)).json();
    return view["state"].asString() == "FAILED";
  }));
  EXPECT_EQ(view["code"].asString(), "CLAIM_EXPIRED");
  EXPECT_EQ(view["sequence"].asInt(), 1) << "the number stays";
  EXPECT_EQ(sales.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon), 3);
}

TEST(LocalClaimQueue, IsForOneInstance) {
  const auto start =
      tryStart(sharedPg().createDatabase(), {{"LOCK_STRATEGY", "pg-row"},
                                             {"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"},
                                             {"LOCK_INSTANCES", "2"}});
  EXPECT_EQ(start.status, 1);
  EXPECT_THAT(start.output, testing::HasSubstr("queue-local"));
  const auto pins = tryStart(sharedPg().createDatabase(), {{"LOCK_STRATEGY", "queue-local"}});
  EXPECT_EQ(pins.status, 1);
  EXPECT_THAT(pins.output, testing::HasSubstr("is for coupons"));
}

}  // namespace festa::test
