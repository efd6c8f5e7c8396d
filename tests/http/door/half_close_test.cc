// A client that sends its whole request and closes its sending half is answered, like any other; a
// client that has gone is not waited for.
#include "tests/http/api_test.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/haproxy.h"

#include <signal.h>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

const std::string kPing = requestBytes("GET", "/healthz", {});
const std::string kList = requestBytes("GET", "/performances", {});
const Headers kPaused{{"X-Lab-Fault", "pause-before-commit=5000"}};
const auto kSettings = patient({{"LAB", "true"},
                                {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"},
                                {"HTTP_UNREAD_TIMEOUT_MS", "2000"}});

Headers with(Headers headers, const Headers& more) {
  headers.insert(more.begin(), more.end());
  return headers;
}

std::string announcementBytes(const std::string& title, const Headers& headers) {
  return requestBytes("POST", "/announcements", headers,
                      R"({"title":")" + title + R"(","content":"c","isPinned":false})");
}

class HalfClose : public testing::Test {
 protected:
  // What a client hears that sends these bytes and then nothing more.
  static std::vector<Response> answersTo(int port, const std::string& bytes) {
    RawSocket socket(port);
    socket.send(bytes);
    socket.finishSending();
    auto answers = answersIn(socket.readAll());
    EXPECT_TRUE(socket.isClosed()) << "the connection stays open";
    return answers;
  }
  std::vector<Response> answersTo(const std::string& bytes) const {
    return answersTo(service_.port(), bytes);
  }

  static void expectOne(const std::vector<Response>& answers, int status) {
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].status, status) << answers[0].body;
  }

  void expectReads(int port) {
    for (int i = 0; i < 20; ++i) {
      expectOne(answersTo(port, kPing), 200);
      expectOne(answersTo(port, kList), 200);
    }
  }

  // Each by its own user, over its own connection.
  void expectSales(int port, int count) {
    const Sales sales(service_.database());
    sales.haveUsers(count);
    const auto performance = sales.performance(count);
    for (int user = 1; user <= count; ++user)
      expectOne(answersTo(port, requestBytes("POST", reservationPath(performance), Sales::as(user),
                                             reservationBody(user, user))),
                200);
    EXPECT_EQ(sales.seatsOf(performance).sold, count);
  }

  bool isStored(const std::string& title) {
    return !PgSession(service_.database())
                .query("SELECT 1 FROM announcements WHERE title = $1", {title})
                .empty();
  }

  // Clients that are connected, the one that asks included.
  int connections() const {
    const std::string name = "\nfesta_http_connections ";
    const auto metrics = service_.metrics();
    return std::stoi(metrics.substr(metrics.find(name) + name.size()));
  }

  // A stream of a performance's seats that has begun.
  RawSocket watchSeats() {
    RawSocket stream(service_.port());
    stream.send(seatEvents());
    EXPECT_TRUE(stream.readUntil("event: snapshot", 1, 10s)) << stream.received();
    return stream;
  }
  std::string seatEvents() {
    const auto performance = Sales(service_.database()).performance(5);
    return requestBytes("GET", "/performances/" + std::to_string(performance) + "/seats/events",
                        {});
  }

  Service service_{sharedPg().createDatabase(), kSettings};
  const Headers council_ = service_.newFestival();
};

}  // namespace

TEST_F(HalfClose, ReadsAreAnswered) {
  expectReads(service_.port());
}

TEST_F(HalfClose, SalesAreAnswered) {
  expectSales(service_.port(), 40);
}

// More than are read ahead.
TEST_F(HalfClose, PipelinedRequestsAreAllAnswered) {
  std::string bytes;
  for (int i = 0; i < 5; ++i)
    bytes += kPing + kList + announcementBytes("pipelined-" + std::to_string(i), council_);
  const auto answers = answersTo(bytes);
  ASSERT_EQ(answers.size(), 15U);
  for (std::size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(answers[i].status, i % 3 == 2 ? 201 : 200) << answers[i].body;
  EXPECT_TRUE(isStored("pipelined-4"));
}

// The requests in front of it are.
TEST_F(HalfClose, ARequestThatIsNeverCompleteIsNotAnswered) {
  expectOne(answersTo(kList + "GET /healthz HTTP/1.1\r\nHos"), 200);
  expectOne(answersTo(kPing + "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
                              "application/json\r\nContent-Length: 10\r\n\r\n{"),
            200);
}

TEST_F(HalfClose, AWaitForALockGoesOnWithoutUsingTheProcessor) {
  RawSocket holder(service_.port());
  holder.send(announcementBytes("holder", with(council_, kPaused)));
  ASSERT_TRUE(eventually([&] { return service_.locked("holding") == 1; }));
  RawSocket waiter(service_.port());
  waiter.send(announcementBytes("waiter", council_));
  waiter.finishSending();
  ASSERT_TRUE(eventually([&] { return service_.locked("waiting") == 1; }));
  const auto before = service_.process().processorSeconds();
  const auto start = std::chrono::steady_clock::now();
  expectOne(answersIn(waiter.readAll()), 201);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  const auto used = service_.process().processorSeconds() - before;
  EXPECT_GT(waited.count(), 0.5) << "it did not wait: the test proves nothing";
  EXPECT_LT(used, waited.count() / 5) << "a loop that never sleeps uses all of it";
  EXPECT_TRUE(isStored("waiter"));
}

// Nothing is done for it, those behind it go on, and its connection does not wait for its turn.
TEST_F(HalfClose, AResetEndsAWaitForALockAndCostsNoOther) {
  RawSocket holder(service_.port());
  holder.send(announcementBytes("holder", with(council_, kPaused)));
  ASSERT_TRUE(eventually([&] { return service_.locked("holding") == 1; }));
  std::vector<RawSocket> gone;
  for (int i = 0; i < 20; ++i) {
    gone.emplace_back(service_.port());
    gone.back().send(announcementBytes("gone", council_));
    if (i % 2 == 0) gone.back().finishSending();
  }
  RawSocket last(service_.port());
  ASSERT_TRUE(eventually([&] { return service_.locked("waiting") == 20; }));
  last.send(announcementBytes("last", council_));
  for (auto& socket : gone) socket.reset();
  EXPECT_TRUE(eventually([&] { return connections() < 10; })) << connections();
  EXPECT_TRUE(last.readUntil("HTTP/1.1 201", 1, 20s)) << last.received();
  EXPECT_FALSE(isStored("gone"));
}

TEST_F(HalfClose, WhatIsReadDuringAStopIsAnswered) {
  RawSocket holder(service_.port());
  holder.send(announcementBytes("holder", with(council_, kPaused)) + kPing + kList);
  holder.finishSending();
  ASSERT_TRUE(eventually([&] { return service_.locked("holding") == 1; }));
  RawSocket waiter(service_.port());
  waiter.send(announcementBytes("waiter", council_) + kPing);
  waiter.finishSending();
  ASSERT_TRUE(eventually([&] { return service_.locked("waiting") == 1; }));
  service_.process().signal(SIGTERM);
  const auto held = answersIn(holder.readAll());
  ASSERT_EQ(held.size(), 3U) << holder.received();
  EXPECT_EQ(held[0].status, 201) << held[0].body;
  const auto waited = answersIn(waiter.readAll());
  ASSERT_EQ(waited.size(), 2U) << waiter.received();
  EXPECT_EQ(waited[0].code(), "SHUTTING_DOWN");
  EXPECT_EQ(service_.process().wait(), 0) << service_.log();
  EXPECT_NE(service_.log().find(R"("event":"stopped","unanswered":0)"), std::string::npos);
}

// HAProxy as it is shipped keeps the end of a client's stream to itself.
TEST_F(HalfClose, AnswersArriveBehindHaProxy) {
  const HaProxy proxy({service_.port()});
  expectReads(proxy.port());
  expectSales(proxy.port(), 20);
}

// A proxy of connections, not of requests, does not.
TEST_F(HalfClose, AnswersArriveThroughAProxyThatPassesTheEndOn) {
  const int port = freePort();
  const auto listener = "listen connections\n  mode tcp\n  bind 127.0.0.1:" + std::to_string(port) +
                        "\n  server one 127.0.0.1:" + std::to_string(service_.port()) +
                        "\n\n# Not published.";
  const HaProxy proxy({service_.port()}, {{"# Not published.", listener}});
  expectReads(port);
  expectSales(port, 20);
}

// Its reader has gone, as far as can be told; another one may have its place.
TEST_F(HalfClose, AStreamOfEventsEnds) {
  auto stream = watchSeats();
  stream.finishSending();
  stream.readAll();
  EXPECT_TRUE(stream.isClosed());
  RawSocket notBegun(service_.port());
  notBegun.send(seatEvents());
  notBegun.finishSending();
  notBegun.readAll();
  EXPECT_TRUE(notBegun.isClosed());
  EXPECT_TRUE(eventually([&] { return connections() == 1; })) << connections();
}

TEST_F(HalfClose, ConnectionsWithoutARequestAreClosedAtOnce) {
  for (const std::string bytes : {"", "GET /hea"}) {
    SCOPED_TRACE(bytes);
    EXPECT_TRUE(answersTo(bytes).empty());
  }
  RawSocket kept(service_.port());
  kept.send(kPing);
  ASSERT_TRUE(kept.readUntil("alive", 1, 5s));
  kept.finishSending();
  EXPECT_EQ(answersIn(kept.readAll()).size(), 1U);
  EXPECT_TRUE(kept.isClosed());
  EXPECT_TRUE(eventually([&] { return connections() == 1; })) << connections();
}

// One that takes its answer slowly gets all of it; one that takes nothing is closed as any other.
TEST_F(HalfClose, LargeAnswersArriveAndAreNotKeptForEver) {
  const auto list = requestBytes("GET", "/announcements",
                                 {{"festival", std::to_string(service_.lastFestival())}});
  PgSession(service_.database())
      .query(
          "INSERT INTO announcements (festival_id, title, content, is_pinned)"
          " SELECT $1::bigint, 't', repeat('가', 3000), false FROM generate_series(1, 100)",
          {std::to_string(service_.lastFestival())});
  RawSocket slow(service_.port(), 4096);
  slow.send(list + list);
  slow.finishSending();
  RawSocket unread(service_.port(), 4096);
  unread.send(list + list);
  unread.finishSending();
  const auto answers = answersIn(slow.readAll());
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_GT(answers[1].body.size(), 500'000U);
  EXPECT_TRUE(eventually([&] { return connections() == 1; })) << connections();
}

}  // namespace festa::test
