// Reservations as API.md's table has them: answers, errors, and who may do what.
#include "tests/http/api_test.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"

#include <signal.h>

#include <thread>

namespace festa::test {

namespace {

class ReservationApi : public ApiTest {
 protected:
  ReservationApi() : sales_(service->database()), performance_(sales_.performance(5)) {}

  Response book(std::int64_t user, int seat, const std::string& location = "A") {
    return client.send("POST", reservationPath(performance_), reservationBody(user, seat, location),
                       Sales::as(user));
  }
  Response bookRaw(const std::string& body) {
    return client.send("POST", reservationPath(performance_), body, Sales::as(1));
  }
  Response cancel(const std::string& id, const Headers& who) {
    return client.request("DELETE", "/customer/reservations/" + id, who);
  }
  std::string businessPath() const {
    return "/business/performances/" + std::to_string(performance_) + "/reservations";
  }

  const Sales sales_;
  const std::int64_t performance_;
};

}  // namespace

TEST_F(ReservationApi, ASaleIsAnsweredAsTheContractSays) {
  const auto answer = book(3, 2);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto json = answer.json();
  EXPECT_EQ(namesIn(json), (std::set<std::string>{"content", "meta"}));
  EXPECT_EQ(json["meta"]["result"].asString(), "ok");
  EXPECT_TRUE(json["meta"]["errorCode"].isNull());
  const auto& content = json["content"];
  EXPECT_EQ(namesIn(content),
            (std::set<std::string>{"id", "user", "performance", "seat", "reservedAt"}));
  EXPECT_EQ(content["user"]["id"].asInt64(), 3);
  EXPECT_EQ(content["user"]["userId"].asString(), "user3");
  EXPECT_FALSE(content["user"]["name"].asString().empty());
  EXPECT_EQ(namesIn(content["user"]), (std::set<std::string>{"id", "userId", "name"}));
  EXPECT_EQ(namesIn(content["seat"]),
            (std::set<std::string>{"id", "performanceId", "location", "number", "isReserved"}));
  EXPECT_EQ(content["seat"]["performanceId"].asInt64(), performance_);
  EXPECT_EQ(content["seat"]["location"].asString(), "A");
  EXPECT_EQ(content["seat"]["number"].asInt(), 2);
  EXPECT_TRUE(content["seat"]["isReserved"].asBool());
  EXPECT_THAT(content["reservedAt"].asString(),
              testing::MatchesRegex("....-..-..T..:..:..[.]......"));
  const auto shown = client.get("/performances/" + std::to_string(performance_));
  EXPECT_EQ(content["performance"], shown.json()["content"]);
  EXPECT_EQ(sales_.seatsOf(performance_).sold, 1);
}

TEST_F(ReservationApi, ASoldSeatIsAlreadyReservedAlsoForItsOwner) {
  ASSERT_EQ(book(1, 1).status, 200);
  expectProblem(book(2, 1), 409, "ALREADY_RESERVED_SEAT");
  expectProblem(book(1, 1), 409, "ALREADY_RESERVED_SEAT");
  EXPECT_EQ(book(1, 1).json()["meta"]["errorCode"].asString(), "already-reserved-seat");
}

TEST_F(ReservationApi, WhatDoesNotExistIsNotFound) {
  expectProblem(book(1, 6), 404, "SEAT_NOT_FOUND");
  expectProblem(book(1, 1, "Z"), 404, "SEAT_NOT_FOUND");
  expectProblem(book(1'000'000, 1), 404, "USER_NOT_FOUND");
  expectProblem(client.send("POST", reservationPath(999'999), reservationBody(1, 1), Sales::as(1)),
                404, "PERFORMANCE_NOT_FOUND");
  EXPECT_EQ(sales_.seatsOf(performance_).sold, 0);
}

TEST_F(ReservationApi, OutsideItsWindowNothingIsSold) {
  const auto early = sales_.performance(1, "now() + interval '1 hour'");
  const auto late =
      sales_.performance(1, "now() - interval '2 hours'", "now() - interval '1 hour'");
  for (const auto performance : {early, late}) {
    expectProblem(
        client.send("POST", reservationPath(performance), reservationBody(1, 1), Sales::as(1)), 409,
        "RESERVATION_CLOSED");
    EXPECT_EQ(sales_.seatsOf(performance).sold, 0);
  }
}

TEST_F(ReservationApi, OnlyAnAdminBooksForOtherUsers) {
  const auto body = reservationBody(2, 1);
  expectProblem(client.send("POST", reservationPath(performance_), body, Sales::as(1)), 403,
                "FORBIDDEN");
  expectProblem(client.send("POST", reservationPath(performance_), body, council), 403,
                "FORBIDDEN");
  expectProblem(client.send("POST", reservationPath(performance_), body), 401, "UNAUTHENTICATED");
  EXPECT_EQ(sales_.seatsOf(performance_).sold, 0);
  const auto booked = asAdmin("POST", reservationPath(performance_), body);
  ASSERT_EQ(booked.status, 200) << booked.body;
  EXPECT_EQ(booked.json()["content"]["user"]["id"].asInt64(), 2);
}

TEST_F(ReservationApi, WithoutUserIdItIsTheCallers) {
  for (const auto* body : {R"({"seatLocation":"A","seatNumber":1})",
                           R"({"userId":null,"seatLocation":"A","seatNumber":2})"}) {
    const auto booked = client.send("POST", reservationPath(performance_), body, Sales::as(3));
    ASSERT_EQ(booked.status, 200) << booked.body;
    EXPECT_EQ(booked.json()["content"]["user"]["id"].asInt64(), 3);
  }
}

TEST_F(ReservationApi, AnAdminIsNoUserAndHasToNameOne) {
  const auto response =
      asAdmin("POST", reservationPath(performance_), R"({"seatLocation":"A","seatNumber":1})");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), std::set<std::string>{"userId"});
  EXPECT_EQ(sales_.seatsOf(performance_).sold, 0);
}

TEST_F(ReservationApi, BadInputIsRefusedByField) {
  EXPECT_EQ(rejectedFields(bookRaw("{}")), (std::set<std::string>{"seatLocation", "seatNumber"}));
  EXPECT_EQ(rejectedFields(bookRaw(R"({"userId":"1"})")),
            (std::set<std::string>{"userId", "seatLocation", "seatNumber"}));
  expectProblem(bookRaw(R"({"userId":1,"seatLocation":" ","seatNumber":1})"), 422,
                "VALIDATION_FAILED");
  expectProblem(bookRaw(R"({"userId":1,"seatLocation":"A","seatNumber":0})"), 422,
                "VALIDATION_FAILED");
  expectProblem(bookRaw(R"({"userId":1,"seatLocation":"A","seatNumber":2147483648})"), 422,
                "VALIDATION_FAILED");
  expectProblem(bookRaw(R"({"userId":1,"seatLocation":"A","seatNumber":1.5})"), 422,
                "VALIDATION_FAILED");
  expectProblem(bookRaw("{"), 400, "MALFORMED_JSON");
  expectProblem(client.send("POST", "/customer/performances/x/reservations", reservationBody(1, 1),
                            Sales::as(1)),
                400, "INVALID_PARAMETER");
  // Another text of the same number would be another lock key.
  const auto zero = "/customer/performances/0" + std::to_string(performance_) + "/reservations";
  expectProblem(client.send("POST", zero, reservationBody(1, 1), Sales::as(1)), 400,
                "INVALID_PARAMETER");
  EXPECT_EQ(sales_.seatsOf(performance_).sold, 0);
}

TEST_F(ReservationApi, ItsOwnerOrAnAdminCancelsOnceAndTheSeatIsFree) {
  const auto id = book(1, 1).json()["content"]["id"].asString();
  expectProblem(cancel(id, Sales::as(2)), 403, "FORBIDDEN");
  expectProblem(cancel(id, council), 403, "FORBIDDEN");
  expectProblem(cancel(id, {}), 401, "UNAUTHENTICATED");
  EXPECT_EQ(sales_.seatsOf(performance_).sold, 1);
  const auto cancelled = cancel(id, Sales::as(1));
  EXPECT_EQ(cancelled.status, 204);
  EXPECT_TRUE(cancelled.body.empty());
  EXPECT_EQ(sales_.seatsOf(performance_).marked, 0);
  expectProblem(cancel(id, Sales::as(1)), 404, "RESERVATION_NOT_FOUND");
  expectProblem(cancel("999999", Sales::as(1)), 404, "RESERVATION_NOT_FOUND");
  expectProblem(cancel("x", Sales::as(1)), 400, "INVALID_PARAMETER");
  // At once, where it was cancelled.
  const auto again = book(2, 1);
  ASSERT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(cancel(again.json()["content"]["id"].asString(), service->as("admin")).status, 204);
}

TEST_F(ReservationApi, AdminsListAndShowThem) {
  std::vector<std::int64_t> ids;
  for (int seat = 1; seat <= 5; ++seat)
    ids.push_back(book(seat, seat).json()["content"]["id"].asInt64());
  ASSERT_EQ(cancel(std::to_string(ids[4]), Sales::as(5)).status, 204);
  const auto admin = service->as("admin");
  const auto page = client.get(businessPath() + "?page=1&perPage=3", admin);
  ASSERT_EQ(page.status, 200) << page.body;
  const auto json = page.json();
  EXPECT_EQ(json["paging"]["totalCount"].asInt(), 4);
  EXPECT_EQ(json["paging"]["totalPage"].asInt(), 2);
  ASSERT_EQ(json["items"].size(), 1U);
  EXPECT_EQ(json["items"][0]["id"].asInt64(), ids[3]);
  EXPECT_EQ(namesIn(json["items"][0]), (std::set<std::string>{"id", "user", "seat", "reservedAt"}));
  const auto after =
      client.get(businessPath() + "?perPage=2&after=" + std::to_string(ids[0]), admin).json();
  ASSERT_EQ(after["items"].size(), 2U);
  EXPECT_EQ(after["items"][0]["id"].asInt64(), ids[1]);

  const auto shown = client.get(businessPath() + "/" + std::to_string(ids[0]), admin);
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.json()["content"]["seat"]["number"].asInt(), 1);
  expectProblem(client.get(businessPath() + "/" + std::to_string(ids[4]), admin), 404,
                "RESERVATION_NOT_FOUND");
  expectProblem(
      client.get("/business/performances/1/reservations/" + std::to_string(ids[0]), admin), 404,
      "RESERVATION_NOT_FOUND");
  expectProblem(client.get("/business/performances/999999/reservations", admin), 404,
                "PERFORMANCE_NOT_FOUND");
  expectProblem(client.get(businessPath(), Sales::as(1)), 403, "FORBIDDEN");
  expectProblem(client.get(businessPath()), 401, "UNAUTHENTICATED");
  expectProblem(client.get(businessPath() + "?perPage=501", admin), 400, "INVALID_PARAMETER");
}

// The rows that sales leave behind are what the schema's backstops need: checked in the catalogue,
// because a single statement is an acknowledged commit only without deferred work.
TEST_F(ReservationApi, NothingInTheSchemaIsDeferredToCommit) {
  EXPECT_EQ(inDatabase("SELECT count(*) FROM pg_constraint WHERE condeferrable"), "0");
  EXPECT_EQ(inDatabase("SELECT count(*) FROM pg_trigger WHERE tgdeferrable"), "0");
  // Those of accounts run before the row is written.
  EXPECT_EQ(inDatabase("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal"
                       " AND tgrelid NOT IN ('councils'::regclass, 'users'::regclass)"),
            "0");
}

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kUntilTheStop{20'000};

// What a second buyer hears, wish by wish, while the first is about to commit: for that time, or
// until the service stops, which it does when all wishes are answered. The first sale pauses before
// its statement: no time-out of the database counts.
std::vector<Response> duringAnotherSale(Service& service, const std::vector<std::string>& wishes,
                                        milliseconds pause = kUntilTheStop) {
  const Sales sales(service.database());
  const auto performance = sales.performance(1);
  std::thread first([&] {
    auto headers = Sales::as(1);
    headers["X-Lab-Fault"] = "pause-before-commit=" + std::to_string(pause.count());
    EXPECT_EQ(service.client()
                  .send("POST", reservationPath(performance), reservationBody(1, 1), headers)
                  .status,
              200);
  });
  EXPECT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  std::vector<Response> answers;
  for (const auto& wish : wishes)
    answers.push_back(
        service.client().send("POST", reservationPath(performance), wish, Sales::as(2)));
  service.tellToStop();
  first.join();
  return answers;
}

}  // namespace

TEST(SeatLock, IsBusyAtOnceDuringAnotherSale) {
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  const auto answer = duringAnotherSale(lab, {reservationBody(2, 1)}).at(0);
  expectProblem(answer, 409, "SEAT_BUSY");
  EXPECT_FALSE(answer.header("retry-after").empty());
}

TEST(SeatLock, IsTheSameForEverySpellingOfTheNumber) {
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  const auto spelt = [](const std::string& number) {
    return R"({"userId":2,"seatLocation":"A","seatNumber":)" + number + "}";
  };
  for (const auto& answer : duringAnotherSale(lab, {spelt("1.0"), spelt("10e-1")}))
    expectProblem(answer, 409, "SEAT_BUSY");
}

TEST(SeatLock, CanBeConfiguredToWait) {
  Service lab(sharedPg().createDatabase(), patient({{"LAB", "true"},
                                                    {"LOCK_LOCKABLES_SEATS_FAIL_FAST", "false"},
                                                    {"LOCK_LOCKABLES_SEATS_WAIT_MS", "20000"}}));
  const auto answer = duringAnotherSale(lab, {reservationBody(2, 1)}, milliseconds(3500)).at(0);
  expectProblem(answer, 409, "ALREADY_RESERVED_SEAT");
}

}  // namespace festa::test
