// The races of the lab: what must fail is seen to fail, and what protects is seen to hold.
#include "tests/http/api_test.h"
#include "tests/support/haproxy.h"
#include "tests/support/loops.h"
#include "tests/support/strategy_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

// Of two crowds one after the other, on a build with sanitizers.
constexpr std::chrono::seconds kRaceTime{60};

// The Host that HttpClient sends.
Headers fromOurPage(const Service& service) {
  auto headers = service.as("admin");
  headers["Origin"] = "http://localhost";
  return headers;
}

class RaceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), patient(labSettings()));
  }
  static void TearDownTestSuite() { lab_.reset(); }

  static Response start(const std::string& wish) {
    return lab_->client().send("POST", "/lab/races", wish, fromOurPage(*lab_));
  }
  // The race when it is over.
  static Json::Value run(const std::string& wish) {
    const auto started = start(wish);
    EXPECT_EQ(started.status, 202) << started.body;
    const auto path = started.header("location");
    HttpClient client(lab_->port());
    Json::Value race;
    EXPECT_TRUE(eventually(
        [&] {
          race = client.get(path).json();
          return race["state"] != "running";
        },
        kRaceTime));
    EXPECT_EQ(race["state"].asString(), "done") << race["failure"].asString();
    return race;
  }
  static Json::Value::ArrayIndex fieldOf(const Json::Value& race, const std::string& name) {
    Json::Value::ArrayIndex index = 0;
    while (index < race["laneFields"].size() && race["laneFields"][index] != name) ++index;
    return index;
  }

  static inline std::unique_ptr<Service> lab_;
};

std::string wishOf(const std::string& what, const std::string& rest) {
  return R"({"what":")" + what + R"(","people":60,)" + rest + "}";
}

}  // namespace

TEST_F(RaceTest, WithoutALockMorePinsThanThreeAreSeenAndExplained) {
  // Whether two of them meet is chance, as for every control.
  Json::Value side;
  for (int round = 0; round < 10 && side["result"]["holds"] != false; ++round)
    side = run(wishOf("pins", R"("strategy":"none")"))["sides"][0];
  EXPECT_GT(side["accepted"].asInt(), 3);
  EXPECT_GT(side["tooMany"].asInt(), 0);
  EXPECT_FALSE(side["result"]["holds"].asBool());
  EXPECT_EQ(side["result"]["facts"][0]["name"].asString(), "pins");
  EXPECT_EQ(side["result"]["facts"][0]["expected"].asInt(), 3);
  EXPECT_EQ(side["result"]["facts"][0]["found"].asInt(), side["accepted"].asInt());
  EXPECT_FALSE(side["result"]["overlaps"].empty()) << "no two transactions are shown that did it";
}

TEST_F(RaceTest, TheLockReleasedBeforeCommitIsSeenToFail) {
  Json::Value race;
  for (int round = 0; round < 10 && race["sides"][0]["result"]["holds"] != false; ++round)
    race = run(wishOf("pins", R"("strategy":"memory","fault":"release-before-commit")"));
  const auto& side = race["sides"][0];
  EXPECT_FALSE(side["result"]["holds"].asBool());
  ASSERT_FALSE(side["result"]["overlaps"].empty());
  const auto& second = side["lanes"][side["result"]["overlaps"][0]["second"].asUInt()];
  EXPECT_LT(second[fieldOf(race, "released")].asInt64(), second[fieldOf(race, "ended")].asInt64())
      << "its lock was given back before its COMMIT";
}

TEST_F(RaceTest, WithALockEveryRuleHolds) {
  for (const auto* what : {"pins", "hot-seat", "opening-second", "coupon"}) {
    const auto race = run(wishOf(what, R"("strategy":"memory")"));
    const auto& side = race["sides"][0];
    EXPECT_TRUE(side["result"]["holds"].asBool()) << what << ' ' << side["result"]["facts"];
    EXPECT_EQ(side["tooMany"].asInt(), 0) << what;
    EXPECT_EQ(side["lanes"].size(), 60U) << what;
    EXPECT_TRUE(side["result"]["overlaps"].empty()) << what;
  }
}

TEST_F(RaceTest, AQueuedClaimIsALaneUntilItsOutcome) {
  for (const auto* what : {"queue-local", "memory"}) {
    const auto race = run(wishOf("coupon", R"("strategy":")" + std::string(what) + '"'));
    const auto& side = race["sides"][0];
    EXPECT_TRUE(side["result"]["holds"].asBool()) << what << ' ' << side["result"]["facts"];
    EXPECT_EQ(side["accepted"].asInt(), 30) << what;
    for (const auto& answer : side["result"]["answers"]) {
      EXPECT_NE(answer["status"].asInt(), 202) << what;
      EXPECT_EQ(answer["count"].asInt(), 30) << what;
      EXPECT_EQ(answer["code"].asString(), answer["status"] == 201 ? "" : "COUPON_SOLD_OUT");
    }
  }
}

TEST_F(RaceTest, CommandsOfEveryRedisServerOfALockAreCounted) {
  const auto perPerson = [](const std::string& strategy) {
    const auto race = run(wishOf("pins", R"("strategy":")" + strategy + '"'));
    return race["sides"][0]["result"]["redisCommands"].asDouble() / 60;
  };
  EXPECT_GE(perPerson("redis-spin"), 1);
  // Each of the nodes is asked for each lock.
  EXPECT_GE(perPerson("redlock"), 3);
  EXPECT_EQ(perPerson("memory"), 0);
}

TEST_F(RaceTest, ALaneHasItsTimesInTheirOrder) {
  const auto race = run(wishOf("pins", R"("strategy":"memory")"));
  int locked = 0;
  for (const auto& lane : race["sides"][0]["lanes"]) {
    std::int64_t before = lane[fieldOf(race, "sent")].asInt64();
    for (const auto* name : {"asked", "granted", "begun", "ended", "released", "answered"}) {
      const auto& moment = lane[fieldOf(race, name)];
      ASSERT_FALSE(moment.isNull()) << name;
      EXPECT_GE(moment.asInt64(), before) << name;
      before = moment.asInt64();
    }
    EXPECT_GT(lane[fieldOf(race, "fence")].asInt64(), 0);
    EXPECT_THAT(lane[fieldOf(race, "instance")].asString(),
                testing::EndsWith(":" + std::to_string(lab_->port())));
    ++locked;
  }
  EXPECT_EQ(locked, 60);
  EXPECT_EQ(race["sides"][0]["result"]["order"]["granted"].asInt(), 60);
}

TEST_F(RaceTest, TwoStrategiesMeetTheSameCrowd) {
  const auto race = run(wishOf("hot-seat", R"("strategy":"pg-row","against":"memory","seed":5)"));
  ASSERT_EQ(race["sides"].size(), 2U);
  EXPECT_EQ(race["sides"][0]["strategy"].asString(), "pg-row");
  EXPECT_EQ(race["sides"][1]["strategy"].asString(), "memory");
  for (const auto& side : race["sides"]) EXPECT_EQ(side["accepted"].asInt(), 1);
}

TEST_F(RaceTest, ItsEventsAreStreamedUntilItsEnd) {
  const auto started = start(wishOf("pins", R"("strategy":"memory")"));
  const auto events = lab_->client().get(started.header("location") + "/events");
  EXPECT_EQ(events.status, 200);
  EXPECT_EQ(events.header("content-type"), "text/event-stream; charset=utf-8");
  std::size_t from = 0;
  for (const auto* event : {"race", "side", "lanes", "verdict", "end"}) {
    const auto at = events.body.find(std::string("event: ") + event + '\n', from);
    ASSERT_NE(at, std::string::npos) << event << " in " << events.body.substr(0, 2000);
    from = at;
  }
}

TEST_F(RaceTest, AConnectionThatClosesGetsTheEventsSoFar) {
  const auto started = start(wishOf("pins", R"("strategy":"memory")"));
  const auto path = started.header("location");
  HttpClient client(lab_->port());
  ASSERT_TRUE(eventually([&] { return client.get(path).json()["state"] == "done"; }, kRaceTime));
  const auto events = client.get(path + "/events", {{"Connection", "close"}});
  EXPECT_EQ(events.status, 200);
  EXPECT_NE(events.body.find("event: end\n"), std::string::npos);
}

TEST_F(RaceTest, OnlyOneRunsAtATimeAndAFewAreRemembered) {
  HttpClient client(lab_->port());
  const auto untilDone = [&](const Response& started) {
    ASSERT_EQ(started.status, 202) << started.body;
    const auto path = started.header("location");
    ASSERT_TRUE(eventually([&] { return client.get(path).json()["state"] == "done"; }, kRaceTime));
  };
  std::string path;
  Response second;
  // Two opening seconds of a large crowd: it still runs when the next one asks. Not in every round
  // on a machine that stands still meanwhile.
  for (int round = 0; round < 3 && second.status != 409; ++round) {
    const auto first =
        start(R"({"what":"opening-second","people":500,"strategy":"memory","against":"pg-row"})");
    second = start(wishOf("pins", R"("strategy":"none")"));
    ASSERT_NO_FATAL_FAILURE(untilDone(first));
    if (second.status != 409) {
      ASSERT_NO_FATAL_FAILURE(untilDone(second));
    }
    path = first.header("location");
  }
  expectProblem(second, 409, "RACE_RUNNING");
  for (int i = 0; i < 5; ++i) run(R"({"what":"hot-seat","people":2,"strategy":"memory"})");
  const auto list = client.get("/lab/races").json();
  EXPECT_EQ(list["races"].size(), 5U);
  EXPECT_EQ(list["mostPeople"].asInt(), 2000);
  expectProblem(client.get(path), 404, "RACE_NOT_FOUND");
}

TEST_F(RaceTest, OnlyOurOwnPageMayStartOneAndOnlyAnAdmin) {
  auto client = lab_->client();
  const auto wish = wishOf("pins", R"("strategy":"none")");
  expectProblem(client.send("POST", "/lab/races", wish, lab_->as("council1")), 403, "FORBIDDEN");
  expectProblem(client.send("POST", "/lab/races", wish), 401, "UNAUTHENTICATED");
  expectProblem(client.send("POST", "/lab/races", wish, lab_->as("admin")), 403, "FORBIDDEN");
  auto headers = fromOurPage(*lab_);
  headers["Origin"] = "http://evil.example";
  expectProblem(client.send("POST", "/lab/races", wish, headers), 403, "FORBIDDEN");
  headers = fromOurPage(*lab_);
  headers["X-Forwarded-For"] = "203.0.113.7";
  expectProblem(client.send("POST", "/lab/races", wish, headers), 403, "FORBIDDEN");
  // A name of theirs that leads to this machine.
  expectProblem(client.raw("POST /lab/races HTTP/1.1\r\nHost: evil.example\r\nOrigin: "
                           "http://evil.example\r\nAuthorization: " +
                           headers["Authorization"] +
                           "\r\nContent-Type: application/json\r\nContent-Length: " +
                           std::to_string(wish.size()) + "\r\n\r\n" + wish),
                403, "FORBIDDEN");
}

TEST_F(RaceTest, ImpossiblePlansAreRefused) {
  expectProblem(start(R"({"what":"pins","people":2001,"strategy":"none"})"), 422,
                "VALIDATION_FAILED");
  expectProblem(start(R"({"what":"pins","people":1,"strategy":"none"})"), 422, "VALIDATION_FAILED");
  expectProblem(start(R"({"what":"chess","people":2,"strategy":"none"})"), 422,
                "VALIDATION_FAILED");
  expectProblem(start(wishOf("pins", R"("strategy":"none","fault":"throw-before-commit")")), 422,
                "VALIDATION_FAILED");
  expectProblem(start(wishOf("pins", R"("strategy":"magic")")), 400, "INVALID_PARAMETER");
  // Only coupons can be queued for.
  expectProblem(start(wishOf("pins", R"("strategy":"queue-local")")), 400, "INVALID_PARAMETER");
  expectProblem(lab_->client().get("/lab/races/x"), 400, "INVALID_PARAMETER");
  expectProblem(lab_->client().get("/lab/races/7"), 404, "RACE_NOT_FOUND");
}

TEST_F(RaceTest, TheRowsOfOldRacesAreSwept) {
  for (int i = 0; i < 22; ++i) run(R"({"what":"hot-seat","people":2,"strategy":"memory"})");
  PgSession session(lab_->database());
  EXPECT_LE(
      std::stoll(*session.query("SELECT count(*) FROM performances WHERE title = '(race)'")[0][0]),
      21);
}

TEST(RaceOutsideTheLab, ThereIsNone) {
  Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  expectProblem(client.get("/lab/races"), 404, "ROUTE_NOT_FOUND");
  auto headers = service.as("admin");
  headers["X-Lab-Times"] = "on";
  const auto answer = client.send("POST", "/announcements",
                                  R"({"title":"a","content":"b","isPinned":false})", headers);
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.header("x-lab-times"), "");
}

TEST(RaceWhileStopping, EndsWithTheService) {
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  ASSERT_EQ(
      lab.client()
          .send("POST", "/lab/races",
                R"({"what":"opening-second","people":300,"strategy":"memory"})", fromOurPage(lab))
          .status,
      202);
  lab.stop();
}

// `memory` keeps out requests of its own process only.
TEST(RaceOnSeveralInstances, MemoryIsSeenToFailAndARowLockToHold) {
  const auto database = sharedPg().createDatabase();
  const int door = freePort();
  const auto settings = patient({{"LAB", "true"}, {"RACE_DOOR_PORT", std::to_string(door)}});
  Service first(database, settings);
  Service second(database, settings);
  Service third(database, settings);
  const HaProxy proxy({first.port(), second.port(), third.port()}, {}, door);
  const auto headers = fromOurPage(first);
  auto client = first.client();
  Json::Value race;
  for (int round = 0; round < 10 && race["sides"][0]["result"]["holds"] != false; ++round) {
    const auto started = client.send(
        "POST", "/lab/races",
        R"({"what":"pins","people":100,"strategy":"memory","against":"pg-row"})", headers);
    ASSERT_EQ(started.status, 202) << started.body;
    ASSERT_TRUE(eventually(
        [&] {
          race = client.get(started.header("location")).json();
          return race["state"] != "running";
        },
        kRaceTime));
  }
  EXPECT_FALSE(race["sides"][0]["result"]["holds"].asBool());
  EXPECT_EQ(race["sides"][0]["result"]["instances"].size(), 3U);
  EXPECT_TRUE(race["sides"][1]["result"]["holds"].asBool()) << race["sides"][1]["result"]["facts"];
}

}  // namespace festa::test
