// Idempotency-Key: one effect and one answer for any number of repetitions on any instance.
#include "tests/http/api_test.h"
#include "tests/support/http/crowd.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"

#include <signal.h>

#include <thread>

namespace festa::test {

namespace {

class Idempotency : public ApiTest {
 protected:
  // A repetition waits this long for the row of a key whose request is about to commit.
  static void SetUpTestSuite() {
    service = std::make_unique<Service>(sharedPg().createDatabase(),
                                        patient({{"DATABASE_LOCK_TIMEOUT_MS", "200"}}));
  }
  Idempotency() : sales_(service->database()) {}

  static Headers with(Headers headers, const std::string& key) {
    headers["Idempotency-Key"] = key;
    return headers;
  }
  std::string newKey() { return "key-" + std::to_string(festival) + '-' + std::to_string(++keys_); }
  static std::string keysOf(const std::string& key, const std::string& what = "count(*)") {
    return inDatabase("SELECT " + what + " FROM idempotency_keys WHERE key = $1", {key});
  }

  const Sales sales_;
  int keys_ = 0;
};

void expectSame(const Response& first, const Response& second) {
  EXPECT_EQ(second.status, first.status);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(second.header("content-type"), first.header("content-type"));
}

}  // namespace

TEST_F(Idempotency, ARepetitionGetsTheFirstAnswerByteForByte) {
  const auto performance = sales_.performance(2);
  const auto headers = with(Sales::as(1), newKey());
  const auto path = reservationPath(performance);
  const auto first = client.send("POST", path, reservationBody(1, 1), headers);
  ASSERT_EQ(first.status, 200) << first.body;
  // Although the view of sold seats knows that the seat is gone.
  expectSame(first, client.send("POST", path, reservationBody(1, 1), headers));
  EXPECT_EQ(sales_.seatsOf(performance).sold, 1);
}

TEST_F(Idempotency, EveryAuthenticatedWriteHasIt) {
  const auto admin = service->as("admin");
  const auto coupon = std::to_string(sales_.coupon(5, false));
  const auto announcement =
      call("POST", "/announcements", R"({"title":"a","content":"b","isPinned":false})")
          .json()["announcementId"]
          .asString();
  const auto doomed =
      call("POST", "/announcements", R"({"title":"a","content":"b","isPinned":false})")
          .json()["announcementId"]
          .asString();
  const auto performance = sales_.performance(1);
  const auto reservation =
      client.send("POST", reservationPath(performance), reservationBody(1, 1), Sales::as(1))
          .json()["content"]["id"]
          .asString();
  struct Write {
    std::string method, path, body;
    Headers who;
  };
  const std::vector<Write> writes{
      {"POST", "/festivals",
       R"({"universityName":"u","festivalName":"f","startDate":"2026-05-20","endDate":"2026-05-21"})",
       admin},
      {"POST", "/councils",
       R"({"festivalId":1,"username":"idempotent)" + newKey() + R"(","password":"password1"})",
       admin},
      {"POST", "/announcements", R"({"title":"a","content":"b","isPinned":false})", council},
      {"PATCH", "/announcements/" + announcement, R"({"title":"x","content":"y"})", council},
      {"PATCH", "/announcements/" + announcement + "/pin", R"({"pinned":true})", council},
      {"DELETE", "/announcements/" + doomed, "", council},
      {"PATCH", "/festivals/information",
       R"({"festivalName":"f","startDate":"2026-05-20","endDate":"2026-05-21","userVisible":true})",
       council},
      {"PATCH", "/festivals/lost-item-guide", R"({"lostItemGuide":"g"})", council},
      {"POST", "/coupons", R"({"name":"a","stock":1,"onePerUser":false})", admin},
      {"POST", "/coupons/" + coupon + "/claims", "", Sales::as(1)},
      {"DELETE", "/customer/reservations/" + reservation, "", Sales::as(1)},
      {"POST", "/performance",
       R"({"placeId":1,"category":"PLAY","startAt":"2026-05-20 10:00:00","endAt":"2026-05-20 11:00:00",)"
       R"("startReservationAt":"2026-05-01 10:00:00","endReservationAt":"2026-05-02 10:00:00",)"
       R"("title":"t","content":"c","acting":"a","filmRating":"ALL","price":0,)"
       R"("seats":[{"location":"A","seatCount":1}]})",
       admin},
  };
  for (const auto& write : writes) {
    SCOPED_TRACE(write.method + ' ' + write.path);
    const auto headers = with(write.who, newKey());
    const auto send = [&] {
      return write.body.empty() ? client.request(write.method, write.path, headers)
                                : client.send(write.method, write.path, write.body, headers);
    };
    const auto first = send();
    EXPECT_EQ(first.status / 100, 2) << first.body;
    expectSame(first, send());
  }
  // A change of password, whose repetition would be refused: the old one is no longer right.
  const auto newcomer =
      client.send("POST", "/councils",
                  R"({"festivalId":1,"username":"changer","password":"password1"})", admin);
  ASSERT_EQ(newcomer.status, 201);
  const auto headers = with(service->as("changer"), newKey());
  const std::string change = R"({"currentPassword":"password1","newPassword":"password2"})";
  const auto first = client.send("PATCH", "/councils/password", change, headers);
  EXPECT_EQ(first.status, 200);
  expectSame(first, client.send("PATCH", "/councils/password", change, headers));
}

TEST_F(Idempotency, AKeyBelongsToOneRequestOfOneCaller) {
  const auto coupon = sales_.coupon(10, false);
  const auto other = sales_.coupon(10, false);
  const auto path = [](std::int64_t id) { return "/coupons/" + std::to_string(id) + "/claims"; };
  const auto key = newKey();
  ASSERT_EQ(client.request("POST", path(coupon), with(Sales::as(1), key)).status, 201);
  expectProblem(client.request("POST", path(other), with(Sales::as(1), key)), 422,
                "IDEMPOTENCY_KEY_REUSED");
  expectProblem(client.send("POST", path(coupon), R"({"a":1})", with(Sales::as(1), key)), 422,
                "IDEMPOTENCY_KEY_REUSED");
  const auto another = client.request("POST", path(coupon), with(Sales::as(2), key));
  EXPECT_EQ(another.status, 201);
  EXPECT_EQ(another.json()["sequence"].asInt(), 2);
  // The same number in the other realm is another account.
  const auto asCouncil = with(service->as("admin"), key);
  EXPECT_EQ(
      client.send("POST", "/coupons", R"({"name":"a","stock":1,"onePerUser":false})", asCouncil)
          .status,
      201);
}

TEST_F(Idempotency, AnAnswerWithoutEffectFreesTheKey) {
  const auto performance = sales_.performance(1);
  const auto key = newKey();
  ASSERT_EQ(
      client.send("POST", reservationPath(performance), reservationBody(2, 1), Sales::as(2)).status,
      200);
  const auto refused = client.send("POST", reservationPath(performance), reservationBody(1, 1),
                                   with(Sales::as(1), key));
  expectProblem(refused, 409, "ALREADY_RESERVED_SEAT");
  EXPECT_EQ(keysOf(key), "0");
  // Validation comes first: no key is claimed.
  const auto invalid = client.send("POST", reservationPath(performance), reservationBody(1, 0),
                                   with(Sales::as(1), key));
  EXPECT_EQ(invalid.status, 422);
  EXPECT_EQ(keysOf(key), "0");
}

TEST_F(Idempotency, UnusableKeysAreRefused) {
  const auto coupon = "/coupons/" + std::to_string(sales_.coupon(10, false)) + "/claims";
  for (const auto& key : {repeated("k", 129), std::string("a b"), std::string("caf\xc3\xa9")})
    expectProblem(client.request("POST", coupon, with(Sales::as(1), key)), 400,
                  "INVALID_PARAMETER");
  EXPECT_EQ(client.request("POST", coupon, with(Sales::as(1), repeated("k", 128))).status, 201);
}

TEST_F(Idempotency, RepetitionsDuringTheFirstAttemptGetRequestInProgress) {
  Service lab(service->database(), patient({{"LAB", "true"}}));
  const auto coupon = "/coupons/" + std::to_string(sales_.coupon(10, false)) + "/claims";
  auto headers = with(Sales::as(1), newKey());
  headers["X-Lab-Fault"] = "pause-before-commit=6000";  // the stop ends it
  Response first;
  std::jthread slow([&] { first = lab.client().request("POST", coupon, headers); });
  EXPECT_TRUE(eventually([&] { return keysOf(headers["Idempotency-Key"]) == "1"; }));
  const auto second = client.request("POST", coupon, headers);
  expectProblem(second, 409, "REQUEST_IN_PROGRESS");
  EXPECT_FALSE(second.header("retry-after").empty());
  lab.tellToStop();
  slow.join();
  EXPECT_EQ(first.status, 201);
  expectSame(first, client.request("POST", coupon, headers));
}

// Nothing of the first attempt locks the row of its key: only its time protects it.
TEST_F(Idempotency, ARepetitionWhileTheFirstAttemptWaitsForItsLockGetsRequestInProgress) {
  Service lab(service->database(),
              patient({{"LAB", "true"}, {"LOCK_LOCKABLES_COUPONS_WAIT_MS", "20000"}}));
  const auto coupon = "/coupons/" + std::to_string(sales_.coupon(10, false)) + "/claims";
  const auto headers = with(Sales::as(1), newKey());
  auto blocking = Sales::as(2);
  blocking["X-Lab-Fault"] = "pause-before-commit=5000";
  std::jthread holder([&] { lab.client().request("POST", coupon, blocking); });
  ASSERT_TRUE(eventually([&] { return lab.locked("holding") == 1; }));
  Response first;
  std::jthread slow([&] { first = lab.client().request("POST", coupon, headers); });
  ASSERT_TRUE(eventually([&] { return lab.locked("waiting") == 1; }));
  expectProblem(lab.client().request("POST", coupon, headers), 409, "REQUEST_IN_PROGRESS");
  EXPECT_EQ(lab.locked("waiting"), 1);
  slow.join();
  EXPECT_EQ(first.status, 201) << first.body;
}

// A process that died left its claim; when its time is over, the next attempt takes the key. If the
// first was only slow, its effect is rolled back: the claim is no longer its own.
TEST_F(Idempotency, AnExpiredAttemptIsTakenOverAndHasNoEffectItself) {
  Service lab(service->database(), patient({{"LAB", "true"},
                                            {"IDEMPOTENCY_CLAIM_MS", "100"},
                                            {"LOCK_LOCKABLES_COUPONS_WAIT_MS", "20000"}}));
  const auto id = sales_.coupon(10, false);
  const auto coupon = "/coupons/" + std::to_string(id) + "/claims";
  const auto headers = with(Sales::as(1), newKey());
  auto blocking = Sales::as(2);
  blocking["X-Lab-Fault"] = "pause-before-commit=5000";
  std::jthread holder(
      [&] { EXPECT_EQ(lab.client().request("POST", coupon, blocking).status, 201); });
  ASSERT_TRUE(eventually([&] { return lab.locked("holding") == 1; }));
  Response first;
  std::jthread slow([&] { first = lab.client().request("POST", coupon, headers); });
  EXPECT_TRUE(eventually(
      [&] { return keysOf(headers.at("Idempotency-Key"), "bool_or(expires_at < now())") == "t"; }));
  const auto second = lab.client().request("POST", coupon, headers);
  EXPECT_EQ(second.status, 201) << second.body;
  slow.join();
  holder.join();
  expectProblem(first, 409, "REQUEST_IN_PROGRESS");
  EXPECT_EQ(sales_.number("SELECT count(*) FROM coupon_claims WHERE coupon_id = $1::bigint"
                          " AND user_id = 1",
                          id),
            1);
  expectSame(second, lab.client().request("POST", coupon, headers));
}

// SCENARIOS B 5: the double click.
TEST_F(Idempotency, ADoubleClickOverThreeInstancesHasOneEffectAndOneAnswer) {
  std::vector<std::unique_ptr<Service>> instances;
  for (int i = 0; i < 3; ++i)
    instances.push_back(
        std::make_unique<Service>(service->database(), patient({{"LOCK_STRATEGY", "pg-row"},
                                                                {"LOCK_INSTANCES", "3"},
                                                                {"DATABASE_CONNECTIONS", "8"}})));
  constexpr int kUsers = 40;
  const auto performance = sales_.performance(kUsers);
  const auto prefix = newKey();
  const auto book = [&](HttpClient& from, int user) {
    return from.send("POST", reservationPath(performance), reservationBody(user, user),
                     with(Sales::as(user), prefix + '-' + std::to_string(user)));
  };
  for (int user = 1; user <= kUsers; ++user) {
    const auto clicks = 2 + user % 9;
    const auto answers = rush(instances[0]->port(), clicks, [&](HttpClient&, int i) {
      HttpClient own(instances[static_cast<std::size_t>(i) % 3]->port());
      return book(own, user);
    });
    std::set<std::string> bodies;
    for (const auto& answer : answers) {
      EXPECT_TRUE(answer.status == 200 || answer.code() == "REQUEST_IN_PROGRESS") << answer.body;
      if (answer.status == 200) bodies.insert(answer.body);
    }
    const auto later = book(client, user);
    EXPECT_EQ(later.status, 200);
    bodies.insert(later.body);
    EXPECT_EQ(bodies.size(), 1U) << "user " << user << " got different answers";
  }
  EXPECT_EQ(sales_.seatsOf(performance).sold, kUsers);
}

TEST_F(Idempotency, OldKeysAreCleanedUp) {
  Service sweeping(service->database(), patient({{"IDEMPOTENCY_SWEEP_SECONDS", "1"}}));
  PgSession session(service->database());
  session.run(
      "INSERT INTO idempotency_keys (realm, uid, key, fingerprint, owner, expires_at, status,"
      " created_at) SELECT 'user', 1, 'old-' || n, '', '', now(), 201, now() - interval '25 hours'"
      " FROM generate_series(1, 2500) AS n");
  session.run(
      "INSERT INTO idempotency_keys (realm, uid, key, fingerprint, owner, expires_at, status,"
      " created_at) VALUES ('user', 1, 'recent', '', '', now(), 201, now() - interval '23 hours')");
  EXPECT_TRUE(eventually([&] {
    return inDatabase("SELECT count(*) FROM idempotency_keys WHERE key LIKE 'old-%'") == "0";
  }));
  EXPECT_EQ(keysOf("recent"), "1");
}

}  // namespace festa::test
