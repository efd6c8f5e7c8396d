// SIGTERM under load: every request that was read gets an HTTP answer.
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/redis_server.h"
#include "tests/support/servers/service.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <set>

namespace festa::test {

namespace {

std::string titled(const std::string& title) {
  return R"({"title":")" + title + R"(","content":"c","isPinned":false})";
}

std::set<std::string> storedTitles(const Service& service) {
  std::set<std::string> titles;
  PgSession session(service.database());
  for (const auto& row : session.query("SELECT title FROM announcements")) titles.insert(*row[0]);
  return titles;
}

}  // namespace

namespace {

constexpr int kClients = 20;

// What a crowd was told about what it asked for, each by its own name.
struct Told {
  std::set<std::string> done;        // 2xx
  std::set<std::string> unanswered;  // the connection ended
  int odd = 0;                       // neither done nor SHUTTING_DOWN
};

// Clients that ask without a pause, `ask(client, i, n)` being the n-th question of client i, while
// the service is told to stop, until it has ended. What is asked for is named "i-n".
Told stopUnderLoad(Service& service, const std::function<Response(HttpClient&, int, int)>& ask) {
  Told told;
  std::mutex mutex;
  std::atomic<int> answers{0};
  std::atomic<bool> stopped{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&, i] {
      HttpClient client(service.port());
      for (int n = 0; !stopped; ++n) {
        const auto answer = ask(client, i, n);
        const auto name = std::to_string(i) + "-" + std::to_string(n);
        const bool isDone = answer.status / 100 == 2;
        const std::lock_guard guard(mutex);
        if (isDone) told.done.insert(name);
        if (answer.status == 0) told.unanswered.insert(name);
        if (answer.status != 0) ++answers;
        if (answer.status != 0 && !isDone && answer.code() != "SHUTTING_DOWN") ++told.odd;
      }
    });
  EXPECT_TRUE(eventually([&] { return answers > 500; }, std::chrono::minutes(1)));
  service.process().signal(SIGTERM);
  const int status = service.process().wait();
  stopped = true;
  for (auto& client : clients) client.join();
  EXPECT_EQ(status, 0) << service.log();
  EXPECT_NE(service.log().find(R"("event":"stopped","unanswered":0)"), std::string::npos);
  return told;
}

void expectTrue(const Told& told, const std::set<std::string>& stored) {
  EXPECT_EQ(told.odd, 0);
  EXPECT_EQ(stored, told.done) << "every 2xx has its row and every row its 2xx";
  for (const auto& name : told.unanswered)
    EXPECT_FALSE(stored.contains(name)) << "it was read, stored and not answered";
}

}  // namespace

TEST(Drain, UnderLoadEveryRequestThatWasReadIsAnswered) {
  // All wait for one key: longer than some slow commits take.
  Service service(sharedPg().createDatabase(),
                  patient({{"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"}}));
  const auto headers = service.newFestival();
  const auto told = stopUnderLoad(service, [&](HttpClient& client, int i, int n) {
    const auto title = std::to_string(i) + "-" + std::to_string(n);
    return client.send("POST", "/announcements", titled(title), headers);
  });
  expectTrue(told, storedTitles(service));
}

// Those of a batch are answered, too.
TEST(Drain, UnderLoadEverySaleOfASharedTransactionIsAnswered) {
  Service service(sharedPg().createDatabase(), patient());
  constexpr int kSeatsEach = 2000;
  const Sales sales(service.database());
  sales.haveUsers(kClients);
  const auto performance = sales.performance(kClients * kSeatsEach);
  const auto told = stopUnderLoad(service, [&](HttpClient& client, int i, int n) {
    return client.send("POST", reservationPath(performance),
                       reservationBody(i + 1, 1 + i * kSeatsEach + n % kSeatsEach),
                       Sales::as(i + 1));
  });
  std::set<std::string> sold;
  PgSession session(service.database());
  for (const auto& row :
       session.query("SELECT number FROM reservations r JOIN seats s ON s.id = r.seat_id")) {
    const int at = std::stoi(*row[0]) - 1;
    sold.insert(std::to_string(at / kSeatsEach) + "-" + std::to_string(at % kSeatsEach));
  }
  expectTrue(told, sold);
  const auto commits =
      std::stoul(*session.query("SELECT count(DISTINCT xmin::text) FROM reservations")[0][0]);
  EXPECT_LT(commits, sold.size()) << "no transaction was shared";
}

TEST(Drain, HoldersFinishAndWaitersAreTurnedAwayWithAClosedConnection) {
  Service service(
      sharedPg().createDatabase(),
      patient({{"LAB", "true"}, {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"}}));
  auto headers = service.newFestival();
  headers["X-Lab-Fault"] = "pause-before-commit=6000";  // the stop ends it
  std::thread stopper([&] {
    EXPECT_TRUE(eventually([&] { return service.locked("waiting") == 4; }));
    service.process().signal(SIGTERM);
  });
  const auto answers = rush(service.port(), 5, [&](HttpClient& client, int i) {
    return client.send("POST", "/announcements", titled(std::to_string(i)), headers);
  });
  stopper.join();
  EXPECT_EQ(service.process().wait(), 0) << service.log();
  EXPECT_EQ(countByStatus(answers), (std::map<int, int>{{201, 1}, {503, 4}}));
  for (const auto& answer : answers)
    if (answer.status == 503) {
      EXPECT_EQ(answer.code(), "SHUTTING_DOWN");
      EXPECT_EQ(answer.header("connection"), "close");
      EXPECT_FALSE(answer.header("retry-after").empty());
    }
  EXPECT_EQ(storedTitles(service).size(), 1U);
}

namespace {

// What a request hears that pauses for a minute when the service is told to stop, and how long
// stopping took. `before` runs when it pauses.
struct Stopped {
  Response answer;
  std::chrono::steady_clock::duration taken;
};
Stopped stopInAPause(Service& service, const std::string& path, const std::string& body,
                     Headers headers, const std::function<void()>& before) {
  headers["X-Lab-Fault"] = "pause-before-commit=60000";
  Stopped stopped;
  std::thread request([&] { stopped.answer = service.client().send("POST", path, body, headers); });
  EXPECT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  before();
  const auto began = std::chrono::steady_clock::now();
  service.process().signal(SIGTERM);
  EXPECT_EQ(service.process().wait(), 0) << service.log();
  stopped.taken = std::chrono::steady_clock::now() - began;
  request.join();
  EXPECT_NE(service.log().find(R"("event":"stopped","unanswered":0)"), std::string::npos);
  return stopped;
}

// The database has ended a session of this service's, by a time-out.
bool hasEndedASession(const Service& service) {
  PgSession session(service.database());
  return session
             .query(
                 "SELECT 1 FROM pg_stat_database WHERE datname = current_database()"
                 " AND sessions_fatal > 0")
             .size() == 1;
}

}  // namespace

// A pause ends early; what comes after it is as always.
TEST(Drain, EndsAPauseOfTheLabAndTheRequestGoesOn) {
  for (const auto* strategy : {"memory", "pg-row", "pg-serializable"}) {
    SCOPED_TRACE(strategy);
    Service service(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
    auto headers = service.newFestival();
    headers["X-Concurrency"] = strategy;
    const auto stopped = stopInAPause(service, "/announcements", titled("paused"), headers, [] {});
    EXPECT_LT(stopped.taken, std::chrono::seconds(10));
    EXPECT_EQ(stopped.answer.status == 201, storedTitles(service).contains("paused"))
        << stopped.answer.body;
    EXPECT_NE(stopped.answer.status, 0);
    if (stopped.answer.status != 201) {
      EXPECT_EQ(stopped.answer.status, 503);
    }
  }
}

// The database ends a session that is idle in a transaction for 2 s.
TEST(Drain, EndsAPauseThatWasTooLongForTheDatabaseAndSaysSo) {
  for (const auto* strategy : {"memory", "pg-row", "pg-serializable"}) {
    SCOPED_TRACE(strategy);
    Service service(sharedPg().createDatabase(), patient({{"LAB", "true"},
                                                          {"DATABASE_POOL_TIMEOUT_MS", "2000"},
                                                          {"DATABASE_STATEMENT_TIMEOUT_MS", "1500"},
                                                          {"DATABASE_COMMIT_TIMEOUT_MS", "500"}}));
    auto headers = service.newFestival();
    headers["X-Concurrency"] = strategy;
    const auto stopped = stopInAPause(service, "/announcements", titled("paused"), headers, [&] {
      EXPECT_TRUE(eventually([&] { return hasEndedASession(service); }));
    });
    EXPECT_LT(stopped.taken, std::chrono::seconds(10));
    EXPECT_FALSE(storedTitles(service).contains("paused"));
    EXPECT_GE(stopped.answer.status, 500) << stopped.answer.body;
    EXPECT_FALSE(stopped.answer.code().empty()) << stopped.answer.body;
    EXPECT_NE(stopped.answer.code(), "INTERNAL");
  }
}

TEST(Drain, EndsAPauseBeforeAStatementThatCommitsByItself) {
  Service service(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  const auto stopped = stopInAPause(service, "/coupons/1/claims", "", Sales::as(1), [] {});
  EXPECT_LT(stopped.taken, std::chrono::seconds(10));
  const auto claims =
      Sales(service.database())
          .number("SELECT count(*) FROM coupon_claims WHERE coupon_id = $1::bigint", 1);
  EXPECT_EQ(stopped.answer.status == 201, claims == 1) << stopped.answer.body;
  EXPECT_NE(stopped.answer.status, 0);
}

TEST(Drain, DuringTheDelayReadinessFailsWhileRequestsAreServed) {
  const auto database = sharedPg().createDatabase();
  {
    Service service(database, patient({{"HTTP_DRAIN_DELAY_MS", "20000"}}));
    const auto headers = service.newFestival();
    auto client = service.client();
    service.process().signal(SIGTERM);
    EXPECT_TRUE(eventually([&] { return client.get("/readyz").status == 503; }));
    EXPECT_EQ(client.send("POST", "/announcements", titled("late"), headers).status, 201);
    EXPECT_EQ(client.get("/healthz").status, 200);
    EXPECT_TRUE(service.process().isRunning());
    service.kill();  // the rest of the delay proves nothing
  }
  Service(database, patient({{"HTTP_DRAIN_DELAY_MS", "100"}})).stop();
}

namespace {

const std::string kStoppedWell = R"("event":"stopped","unanswered":0)";
// Long enough for a few requests on a machine that stands still for a while.
const std::string kDelay = kSanitized ? "10000" : "3000";
const std::string kShuttingDown = R"("code":"SHUTTING_DOWN")";

std::string announcementBytes(const std::string& title, const Headers& headers) {
  return requestBytes("POST", "/announcements", headers, titled(title));
}

// The four sales of one connection, one for each user.
class PipelinedSales {
 public:
  explicit PipelinedSales(const Service& service) : sales_(service.database()) {
    sales_.haveUsers(kCount);
    performance_ = sales_.performance(kCount);
  }

  static constexpr int kCount = 4;

  std::string bytes(int user, const Headers& more = {}) const {
    auto headers = Sales::as(user);
    headers.insert(more.begin(), more.end());
    return requestBytes("POST", reservationPath(performance_), headers,
                        reservationBody(user, user));
  }
  std::string all() const {
    std::string bytes;
    for (int user = 1; user <= kCount; ++user) bytes += this->bytes(user);
    return bytes;
  }
  std::int64_t sold() const { return sales_.seatsOf(performance_).sold; }

 private:
  const Sales sales_;
  std::int64_t performance_ = 0;
};

// All are answered, and the last one alone says that the connection ends.
void expectAnswers(RawSocket& socket, int count, int status) {
  const auto answers = answersIn(socket.readAll());
  EXPECT_TRUE(socket.isClosed());
  ASSERT_EQ(answers.size(), static_cast<std::size_t>(count)) << socket.received();
  for (const auto& answer : answers) EXPECT_EQ(answer.status, status) << answer.body;
  for (const auto& answer : answers)
    EXPECT_EQ(answer.header("connection") == "close", &answer == &answers.back());
}

void expectStoppedWell(Service& service) {
  EXPECT_EQ(service.process().wait(), 0) << service.log();
  EXPECT_NE(service.log().find(kStoppedWell), std::string::npos) << service.log();
}

}  // namespace

// Its first request is the only one that is not done when the signal comes; the answers to the
// others wait behind it.
TEST(Drain, PipelinedWritesFromBeforeTheStopAreAllAnswered) {
  Service service(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  const PipelinedSales sales(service);
  RawSocket socket(service.port());
  std::string bytes = sales.bytes(1, {{"X-Lab-Fault", "pause-before-commit=6000"}});
  for (int user = 2; user <= PipelinedSales::kCount; ++user) bytes += sales.bytes(user);
  socket.send(bytes);
  ASSERT_TRUE(eventually([&] { return service.locked("holding") == 1 && sales.sold() == 3; }));
  service.process().signal(SIGTERM);
  expectAnswers(socket, PipelinedSales::kCount, 200);
  expectStoppedWell(service);
  EXPECT_EQ(sales.sold(), PipelinedSales::kCount);
}

TEST(Drain, PipelinedWritesDuringTheDelayAreAllAnswered) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_DRAIN_DELAY_MS", kDelay}}));
  const PipelinedSales sales(service);
  RawSocket socket(service.port());
  service.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return service.client().get("/readyz").status == 503; }));
  socket.send(sales.all());
  expectAnswers(socket, PipelinedSales::kCount, 200);
  EXPECT_EQ(sales.sold(), PipelinedSales::kCount);
  expectStoppedWell(service);
}

// A client that closes its sending half is answered at each stage of a stop as any other.
TEST(Drain, WhatAClientSendsLastDuringTheDelayIsAnswered) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_DRAIN_DELAY_MS", kDelay}}));
  const PipelinedSales sales(service);
  service.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return service.client().get("/readyz").status == 503; }));
  RawSocket socket(service.port());
  socket.send(sales.all());
  socket.finishSending();
  expectAnswers(socket, PipelinedSales::kCount, 200);
  expectStoppedWell(service);
  EXPECT_EQ(sales.sold(), PipelinedSales::kCount);
}

// Nothing more is read behind the first answer that was given during the stop: a client that sends
// without end cannot keep its connection.
TEST(Drain, AnEndlessPipelineEndsWithWhatWasReadDuringTheStop) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_DRAIN_DELAY_MS", kDelay}}));
  service.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return service.client().get("/readyz").status == 503; }));
  RawSocket socket(service.port());
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += requestBytes("GET", "/performances", {});
  socket.send(bytes);
  const auto answers = answersIn(socket.readAll());
  EXPECT_TRUE(socket.isClosed());
  ASSERT_FALSE(answers.empty());
  EXPECT_LE(answers.size(), 4U);
  for (const auto& answer : answers)
    EXPECT_EQ(answer.header("connection") == "close", &answer == &answers.back());
  expectStoppedWell(service);
}

// They were made before the signal, and their client takes its time.
TEST(Drain, AnswersFromBeforeTheStopAreSentToTheirEnd) {
  Service service(sharedPg().createDatabase(), patient());
  service.newFestival();
  const auto festival = std::to_string(service.lastFestival());
  PgSession(service.database())
      .query(
          "INSERT INTO announcements (festival_id, title, content, is_pinned)"
          " SELECT $1::bigint, 't', repeat('가', 3000), false FROM generate_series(1, 100)",
          {festival});
  RawSocket slow(service.port(), 4096);
  const auto list = requestBytes("GET", "/announcements", {{"festival", festival}});
  slow.send(list + list);
  const std::string answered = R"("route":"/announcements","status":200)";
  ASSERT_TRUE(eventually([&] { return occurrences(service.log(), answered) == 2; }));
  service.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return service.log().find("stopping") != std::string::npos; }));
  const auto answers = answersIn(slow.readAll());
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_GT(answers[1].body.size(), 500'000U);
  expectStoppedWell(service);
}

// A write that waits for the database keeps the service at this stage. The first of the others is
// refused by its headers, and nothing is read behind it.
TEST(Drain, PipelinedWritesHaveNoEffectWhileTheLastOnesAreServed) {
  // The announcement waits until everything else has been tried.
  Service service(sharedPg().createDatabase(), patient({{"DATABASE_LOCK_TIMEOUT_MS", "19900"},
                                                        {"DATABASE_STATEMENT_TIMEOUT_MS", "20000"}},
                                                       std::chrono::seconds(240)));
  const auto headers = service.newFestival();
  const PipelinedSales sales(service);
  PgSession blocker(service.database());
  blocker.query("BEGIN");
  blocker.query("LOCK TABLE announcements IN ACCESS EXCLUSIVE MODE");
  RawSocket held(service.port());
  held.send(announcementBytes("held", headers));
  ASSERT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  RawSocket socket(service.port());
  service.process().signal(SIGTERM);
  ASSERT_TRUE(
      eventually([&] { return service.client().get("/performances").code() == "SHUTTING_DOWN"; }));
  socket.send(sales.all());
  expectAnswers(socket, 1, 503);
  EXPECT_EQ(occurrences(socket.received(), kShuttingDown), 1);
  RawSocket last(service.port());
  last.send(sales.all());
  last.finishSending();
  expectAnswers(last, 1, 503);
  blocker.query("COMMIT");
  expectAnswers(held, 1, 201);
  expectStoppedWell(service);
  EXPECT_EQ(sales.sold(), 0);
  EXPECT_EQ(storedTitles(service), std::set<std::string>{"held"});
}

TEST(Drain, PipelinedWritesThatWaitForALockAreAllAnswered) {
  Service service(
      sharedPg().createDatabase(),
      patient({{"LAB", "true"}, {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"}}));
  const auto headers = service.newFestival();
  auto pausing = headers;
  pausing["X-Lab-Fault"] = "pause-before-commit=6000";
  RawSocket holder(service.port());
  holder.send(announcementBytes("holder", pausing));
  ASSERT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  RawSocket waiting(service.port());
  for (int i = 0; i < 4; ++i) waiting.send(announcementBytes(std::to_string(i), headers));
  ASSERT_TRUE(eventually([&] { return service.locked("waiting") == 4; }));
  service.process().signal(SIGTERM);
  expectAnswers(waiting, 4, 503);
  EXPECT_EQ(occurrences(waiting.received(), kShuttingDown), 4);
  expectAnswers(holder, 1, 201);
  expectStoppedWell(service);
  EXPECT_EQ(storedTitles(service), std::set<std::string>{"holder"});
}

// It is carried out; that its client never heard of it is in the log, and so are the answers that
// waited behind it.
TEST(Drain, RequestsWhoseClientHasGoneCountAsUnanswered) {
  // The delay ends the pause, before PostgreSQL ends a session that is idle for too long.
  Service service(sharedPg().createDatabase(),
                  patient({{"LAB", "true"}, {"HTTP_DRAIN_DELAY_MS", "5000"}}));
  auto headers = service.newFestival();
  headers["X-Lab-Fault"] = "pause-before-commit=60000";
  RawSocket gone(service.port());
  gone.send(announcementBytes("gone", headers));
  for (int i = 0; i < 3; ++i) gone.send(requestBytes("GET", "/performances", {}));
  ASSERT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  ASSERT_TRUE(eventually(
      [&] { return occurrences(service.log(), R"("route":"/performances","status":200)") == 3; }));
  service.process().signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return service.client().get("/readyz").status == 503; }));
  gone.reset();
  EXPECT_EQ(service.process().wait(), 0) << service.log();
  EXPECT_NE(service.log().find(R"("event":"stopped","unanswered":4)"), std::string::npos)
      << service.log();
  EXPECT_EQ(storedTitles(service), std::set<std::string>{"gone"});
}

TEST(Drain, AnIdleServiceStopsAtOnceEvenWithOpenConnections) {
  Service service(sharedPg().createDatabase());
  auto idle = service.client();
  EXPECT_EQ(idle.get("/healthz").status, 200);
  service.stop();
}

// Requests whose clients have gone: passwords that are being hashed, a holder, waiters.
TEST(Drain, PastItsLimitTheProcessEndsWithStatusZero) {
  const auto database = sharedPg().createDatabase();
  const Service::Settings settings{{"LAB", "true"},
                                   {"HTTP_DRAIN_LIMIT_MS", "100"},
                                   {"LIMITS_LOGINS_PER_MINUTE", "0"},
                                   {"LOCK_STRATEGY", "redis-fair"},
                                   {"REDIS_HOST", "127.0.0.1"},
                                   {"REDIS_PORT", std::to_string(sharedRedis().port())}};
  for (int stop = 0; stop < sized(5, 100) && !testing::Test::HasFailure(); ++stop) {
    Service service(database, settings);
    auto headers = service.newFestival();
    headers["X-Lab-Fault"] = "pause-before-commit=2000";
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i)
      clients.emplace_back([&] {
        HttpClient client(service.port());
        client.send("POST", "/announcements", R"({"title":"t","content":"c","isPinned":false})",
                    headers);
      });
    for (int i = 0; i < 20; ++i)
      clients.emplace_back([&] {
        HttpClient client(service.port());
        client.send("POST", "/councils/login", R"({"username":"admin","password":"wrong-one"})");
      });
    EXPECT_TRUE(eventually([&] {
      const auto metrics = service.client().get("/metrics").body;
      return metrics.find("\nfesta_http_in_flight 1\n") == std::string::npos;
    }));
    service.process().signal(SIGTERM);
    EXPECT_EQ(service.process().wait(), 0) << service.errors();
    for (auto& client : clients) client.join();
  }
}

}  // namespace festa::test
