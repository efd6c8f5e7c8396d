// GET /performances/{id}/seats/events.
#include "tests/http/seats/performance_test.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/sales.h"
#include "tests/support/http/seat_watchers.h"
#include "tests/support/loops.h"
#include "tests/support/stall_watch.h"

namespace festa::test {

namespace {

using namespace std::chrono_literals;

class LiveSeats : public PerformanceTest {
 protected:
  static std::string eventsPath(std::int64_t id) { return seatsPath(id) + "/events"; }
  static std::string requestFor(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  // Reads until `isThere(hall)`.
  template <class IsThere>
  static WatchedHall watchUntil(RawSocket& stream, IsThere isThere) {
    WatchedHall hall;
    EXPECT_TRUE(eventually([&] {
      stream.readUntil("\n\n", 1 << 20, 20ms);  // what there is
      hall = {};
      hall.read(stream.received(), {});
      return isThere(hall);
    })) << stream.received();
    return hall;
  }
  static void set(std::int64_t id, const std::string& location, int number, bool isSold) {
    PgSession(service->database())
        .query(
            "UPDATE seats SET is_reserved = $4::boolean"
            " WHERE performance_id = $1::bigint AND location = $2 AND number = $3::int",
            {std::to_string(id), location, std::to_string(number), isSold ? "true" : "false"});
  }
};

}  // namespace

TEST_F(LiveSeats, AStreamBeginsWithASnapshotAndGoesOnWithChanges) {
  const auto id =
      created("seats", R"([{"location":"나 \"1\"","seatCount":9},{"location":"B","seatCount":2}])");
  set(id, "나 \"1\"", 9, true);
  RawSocket stream(service->port());
  stream.send(requestFor(eventsPath(id)));
  ASSERT_TRUE(stream.readUntil("\n\n", 1, 10s)) << stream.received();
  EXPECT_THAT(stream.received(),
              testing::HasSubstr("content-type: text/event-stream; charset=utf-8"));
  EXPECT_THAT(
      stream.received(),
      testing::HasSubstr("event: snapshot\ndata: "
                         "{\"sections\":[{\"location\":\"B\",\"count\":2,\"sold\":\"AA==\"},"
                         "{\"location\":\"나 \\\"1\\\"\",\"count\":9,\"sold\":\"AAE=\"}]}\n\n"));
  set(id, "B", 2, true);
  ASSERT_TRUE(
      stream.readUntil("event: changes\ndata: {\"sold\":[[\"B\",2]],\"free\":[]}\n\n", 1, 10s))
      << stream.received();
  set(id, "나 \"1\"", 9, false);
  ASSERT_TRUE(stream.readUntil(
      "event: changes\ndata: {\"sold\":[],\"free\":[[\"나 \\\"1\\\"\",9]]}\n\n", 1, 10s))
      << stream.received();
}

TEST_F(LiveSeats, NotificationsOfAFestivalComeOnTheSameStream) {
  const auto id = Sales(service->database()).performance(10);
  const auto author = service->newFestival();
  const auto path = eventsPath(id) + "?festival=";
  RawSocket stream(service->port());
  stream.send(requestFor(path + std::to_string(service->lastFestival())));
  // The first words of each feed.
  ASSERT_TRUE(stream.readUntil("event: snapshot\n", 1, 10s)) << stream.received();
  ASSERT_TRUE(stream.readUntil("retry: ", 1, 10s)) << stream.received();
  const auto announcement =
      client.send("POST", "/announcements", R"({"title":"t","content":"c"})", author);
  ASSERT_EQ(announcement.status, 201) << announcement.body;
  const auto number = announcement.json()["announcementId"].asString();
  ASSERT_EQ(client.request("POST", "/announcements/" + number + "/notifications", author).status,
            200);
  EXPECT_TRUE(stream.readUntil("event: notification\ndata: ", 1, 10s)) << stream.received();
  set(id, "A", 7, true);
  EXPECT_TRUE(stream.readUntil("event: changes\n", 1, 10s)) << stream.received();
  expectProblem(client.get(path + "999999"), 404, "FESTIVAL_NOT_FOUND");
  expectProblem(client.get(path + "x"), 400, "INVALID_PARAMETER");
}

TEST_F(LiveSeats, ASaleAndItsCancellationAreSeenWithinASecond) {
  const auto id = Sales(service->database()).performance(10);
  RawSocket stream(service->port());
  stream.send(requestFor(eventsPath(id)));
  watchUntil(stream, [](const WatchedHall& hall) { return hall.hasBegun(); });
  const auto sale = client.send("POST", reservationPath(id), reservationBody(1, 7), Sales::as(1));
  ASSERT_EQ(sale.status, 200) << sale.body;
  const StallWatch stalls;
  auto before = std::chrono::steady_clock::now();
  const auto sold = watchUntil(stream, [](const WatchedHall& hall) {
    return hall.sold() == std::set<Seat>{{"A", 7}};
  });
  EXPECT_LT(secondsSince(before), stalls.allowed(1.0));
  EXPECT_EQ(sold.snapshots(), 1);
  const auto reservation = sale.json()["content"]["id"].asString();
  ASSERT_EQ(client.request("DELETE", "/customer/reservations/" + reservation, Sales::as(1)).status,
            204);
  before = std::chrono::steady_clock::now();
  watchUntil(stream, [](const WatchedHall& hall) { return hall.sold().empty(); });
  EXPECT_LT(secondsSince(before), stalls.allowed(1.0));
}

TEST_F(LiveSeats, ChangesOfAnotherHallAreNotSent) {
  const auto watched = created();
  const auto other = created();
  RawSocket stream(service->port());
  RawSocket second(service->port());
  stream.send(requestFor(eventsPath(watched)));
  second.send(requestFor(eventsPath(other)));
  ASSERT_TRUE(stream.readUntil("\n\n", 1, 10s));
  ASSERT_TRUE(second.readUntil("\n\n", 1, 10s));
  set(other, "A", 1, true);
  ASSERT_TRUE(second.readUntil("event: changes", 1, 10s)) << second.received();
  set(watched, "A", 2, true);
  ASSERT_TRUE(stream.readUntil("event: changes", 1, 10s)) << stream.received();
  EXPECT_THAT(stream.received(), testing::HasSubstr(R"({"sold":[["A",2]],"free":[]})"));
}

TEST_F(LiveSeats, WithoutAStreamTheAnswerIsTheSnapshot) {
  const auto id = created();
  set(id, "A", 3, true);
  const auto once = service->client().get(eventsPath(id), {{"Connection", "close"}});
  EXPECT_EQ(once.status, 200);
  EXPECT_THAT(once.header("content-type"), testing::StartsWith("text/event-stream"));
  EXPECT_EQ(once.header("cache-control"), "no-store");
  EXPECT_EQ(
      once.body,
      "event: snapshot\ndata: {\"sections\":[{\"location\":\"A\",\"count\":3,\"sold\":\"BA==\"},"
      "{\"location\":\"B\",\"count\":2,\"sold\":\"AA==\"}]}\n\n");
  EXPECT_EQ(service->client().request("HEAD", eventsPath(id)).status, 200);
}

TEST_F(LiveSeats, RefusalsHaveTheCodesOfTheContract) {
  expectProblem(client.get("/performances/999999/seats/events"), 404, "PERFORMANCE_NOT_FOUND");
  expectProblem(client.get("/performances/x/seats/events"), 400, "INVALID_PARAMETER");
  expectProblem(client.send("POST", eventsPath(1), "{}"), 405, "METHOD_NOT_ALLOWED");
}

TEST_F(LiveSeats, AHallOfFiftyThousandSeatsIsWatched) {
  const auto id = created("seats", R"([{"location":"ALL","seatCount":50000}])");
  RawSocket stream(service->port());
  stream.send(requestFor(eventsPath(id)));
  watchUntil(stream, [](const WatchedHall& hall) { return hall.hasBegun(); });
  set(id, "ALL", 50'000, true);
  const auto hall = watchUntil(stream, [](const WatchedHall& seen) {
    return seen.sold() == std::set<Seat>{{"ALL", 50'000}};
  });
  EXPECT_EQ(hall.changes(), 1);
}

// What it does not read is not kept for it: it skips what happened meanwhile. Few seats with long
// names make large events of little work: a reader that takes nothing for ten seconds is let go.
TEST_F(LiveSeats, AReaderThatIsBehindGetsAFreshSnapshotAndNotWhatItMissed) {
  std::string sections;
  for (int i = 0; i < 1000; ++i)
    sections += (i == 0 ? "[" : ",") + (R"({"location":")" + repeated("구", 17)) +
                std::to_string(i) + R"(","seatCount":2})";
  const auto id = created("seats", sections + ']');
  RawSocket slow(service->port(), 4096);
  RawSocket quick(service->port());
  for (auto* stream : {&slow, &quick}) stream->send(requestFor(eventsPath(id)));
  ASSERT_TRUE(quick.readUntil("\n\n", 1, 10s));
  constexpr int kTurns = 10;
  const auto turn = [&](int number) {
    PgSession(service->database())
        .query(
            "UPDATE seats SET is_reserved = number % 2 = $2::int WHERE performance_id = $1::bigint",
            {std::to_string(id), std::to_string(number % 2)});
    ASSERT_TRUE(quick.readUntil("\n\n", number + 2, 10s)) << number;
  };
  for (int number = 0; number < kTurns; ++number) turn(number);
  ASSERT_GT(quick.received().size(), 800'000U) << "too little to fill a reader's buffers";

  const auto last = [&] {
    WatchedHall hall;
    hall.read(quick.received(), {});
    return hall.sold();
  }();
  ASSERT_EQ(last.size(), 1000U);
  const auto seen = watchUntil(slow, [&](const WatchedHall& hall) { return hall.sold() == last; });
  EXPECT_LT(seen.snapshots() + seen.changes(), kTurns / 2);
  EXPECT_LT(slow.received().size(), quick.received().size() / 2);
}

// Five thousand in production; a small number here.
TEST(LiveSeatLimits, WatchersAreLimitedAndALeavingOneFreesItsPlace) {
  const Service service(sharedPg().createDatabase(), patient({{"HTTP_MAX_SEAT_WATCHERS", "3"}}));
  auto watchers = std::make_unique<SeatWatchers>(service.port(), 1, 3);
  ASSERT_TRUE(eventually([&] { return watchers->allHaveBegun(); }));
  const auto refused = service.client().get("/performances/1/seats/events");
  expectProblem(refused, 503, "OVERLOADED");
  EXPECT_FALSE(refused.header("retry-after").empty());
  EXPECT_THAT(service.metrics(), testing::HasSubstr("festa_seat_watchers 3"));
  watchers.reset();
  EXPECT_TRUE(eventually([&] {
    RawSocket stream(service.port());
    stream.send("GET /performances/1/seats/events HTTP/1.1\r\nHost: x\r\n\r\n");
    return stream.readUntil("\r\n\r\n", 1, 10s) && stream.received().starts_with("HTTP/1.1 200") &&
           stream.readUntil("event: snapshot", 1, 10s);
  }));
}

TEST(LiveSeatLimits, StreamsEndWhenTheServiceStops) {
  Service service(sharedPg().createDatabase(), patient());
  RawSocket stream(service.port());
  stream.send("GET /performances/1/seats/events HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(stream.readUntil("event: snapshot", 1, 10s));
  service.stop();
  stream.readAll(10s);
  EXPECT_TRUE(stream.isClosed());
  EXPECT_THAT(stream.received(), testing::EndsWith("0\r\n\r\n"));
}

TEST_F(LiveSeats, OnesOwnReservationsAreListed) {
  const auto id = Sales(service->database()).performance(5);
  for (const int seat : {2, 4})
    ASSERT_EQ(
        client.send("POST", reservationPath(id), reservationBody(1, seat), Sales::as(1)).status,
        200);
  ASSERT_EQ(client.send("POST", reservationPath(id), reservationBody(2, 5), Sales::as(2)).status,
            200);
  const auto own = client.get(reservationPath(id), Sales::as(1));
  ASSERT_EQ(own.status, 200) << own.body;
  const auto json = own.json();
  ASSERT_EQ(json["items"].size(), 2U);
  EXPECT_EQ(json["items"][0]["seat"]["number"].asInt(), 4) << "the newest first";
  EXPECT_EQ(json["items"][1]["user"]["id"].asInt(), 1);
  const auto first = json["items"][1]["id"].asString();
  ASSERT_EQ(client.request("DELETE", "/customer/reservations/" + first, Sales::as(1)).status, 204);
  EXPECT_EQ(client.get(reservationPath(id), Sales::as(1)).json()["items"].size(), 1U);
  EXPECT_EQ(client.get(reservationPath(999'999), Sales::as(1)).json()["items"].size(), 0U);
  expectProblem(client.get(reservationPath(id)), 401, "UNAUTHENTICATED");
  expectProblem(client.get(reservationPath(id), service->as("admin")), 403, "FORBIDDEN");
  expectProblem(client.get("/customer/performances/x/reservations", Sales::as(1)), 400,
                "INVALID_PARAMETER");
}

}  // namespace festa::test
