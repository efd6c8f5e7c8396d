// Everything that "Limits for clients" of docs/guarantees bounds, at once, while others go about
// their business.
#include "tests/support/http/attackers.h"
#include "tests/support/http/framing_cases.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"
#include "tests/support/size.h"
#include "tests/support/stall_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr int kHonest = 50;
constexpr int kMaxConnections = 3000;
constexpr long kMaxMegabytes = 200;
constexpr auto kMaxLatency = 500ms;
constexpr auto kStatementTimeout = 220ms;  // beyond it the service refuses: 503

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

std::string post(const std::string& path, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The same bytes each time.
std::function<std::string()> always(std::string bytes) {
  return [bytes = std::move(bytes)] { return bytes; };
}

std::function<std::string()> inTurn(std::vector<std::string> all) {
  return
      [all = std::move(all), next = std::size_t{0}]() mutable { return all[next++ % all.size()]; };
}

std::vector<std::string> allAmbiguous() {
  std::vector<std::string> all;
  for (const auto& some :
       {requestsWithAmbiguousLengths(), requestsWithAmbiguousLines(), requestsWithAmbiguousChunks(),
        requestsWithoutOneHost(), requestsOfHttp10WithChunks()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// Each method on each path, known or not, with what no handler takes.
std::vector<std::string> requestsInVain() {
  std::vector<std::string> all;
  int number = 0;
  for (const std::string method :
       {"GET", "HEAD", "PUT", "PATCH", "DELETE", "BREW", "MOVE", "COPY", "LOCK", "MKCOL"})
    for (const std::string path :
         {"/announcements", "/announcements/x", "/festivals", "/performances/%ff", "/coupons/-1",
          "/users/login", "/councils/login", "/customer/performances/9/reservations", "/nowhere"}) {
      ++number;
      all.push_back(method + ' ' + path + (number % 2 == 0 ? "" : "/" + std::to_string(number)) +
                    "?a=" + std::to_string(number) + " HTTP/1.1\r\nHost: x\r\nfestival: " +
                    std::string(static_cast<std::size_t>(number % 7), '\'') + "\r\n\r\n");
    }
  return all;
}

std::string manyMembers(int count) {
  std::string json = "{";
  for (int i = 0; i < count; ++i) json += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  return json + "}";
}

struct Honest {
  std::mutex mutex;
  std::vector<steady_clock::duration> latencies;
  std::map<std::string, int> byOutcome;  // "reads 200", "sales 409 SEAT_BUSY"

  void add(const std::string& what, const Response& answer, steady_clock::duration taken) {
    const auto code = answer.status >= 400 ? ' ' + answer.code() : "";
    const std::lock_guard lock(mutex);
    latencies.push_back(taken);
    ++byOutcome[what + ' ' + std::to_string(answer.status) + code];
  }
  // Answers that say that a statement was late or that there was no room; any other outcome than
  // these and success is a failure.
  std::size_t refused() const {
    const std::set<std::string> expected{"performances 200", "announcements 200", "reservation 200",
                                         "announcement 201", "removal 204"};
    std::size_t all = 0;
    for (const auto& [what, count] : byOutcome) {
      if (expected.contains(what)) continue;
      all += static_cast<std::size_t>(count);
      EXPECT_TRUE(what.ends_with("503 DATABASE_UNAVAILABLE") ||
                  what.ends_with("503 DATABASE_BUSY") || what.ends_with("500 COMMIT_UNCONFIRMED") ||
                  what.ends_with("503 OVERLOADED"))
          << what << ": " << count;
    }
    return all;
  }
  steady_clock::duration percentile(double share) {
    std::sort(latencies.begin(), latencies.end());
    return latencies.at(
        static_cast<std::size_t>(share * static_cast<double>(latencies.size() - 1)));
  }
};

// How often a statement could not have been in time, were it as slow as this.
std::size_t timesMissed(steady_clock::duration taken) {
  return taken > kStatementTimeout ? static_cast<std::size_t>(taken / kStatementTimeout) : 0;
}

long milliseconds(steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

// Thousands of sockets.
void raiseLimitOfFiles() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

class DoorCrowd : public testing::Test {
 protected:
  DoorCrowd() {
    raiseLimitOfFiles();
    sales_.haveUsers(kHonest + 1);
    performance_ = sales_.performance(kHonest * kSeatsEach);
    for (int i = 0; i < kHonest; ++i) {
      councils_.push_back(service_.newFestival());
      festivals_.push_back(service_.lastFestival());
    }
    service_.newFestival();
    crowded_ = service_.lastFestival();
    PgSession(service_.database())
        .query(
            "INSERT INTO announcements (festival_id, title, content, is_pinned)"
            " SELECT $1::bigint, repeat('가', 50), repeat('가', 3000), false"
            " FROM generate_series(1, 4000)",
            {std::to_string(crowded_)});
    PgSession(service_.database())
        .query(
            "INSERT INTO announcement_notifications (festival_id, announcement_id, title, content)"
            " SELECT $1::bigint, min(id), 't', repeat('c', 9000) FROM announcements,"
            " generate_series(1, 500) AS n WHERE festival_id = $1::bigint GROUP BY n",
            {std::to_string(crowded_)});
    const auto coupon = std::to_string(sales_.coupon(10, false));
    Response claimed;
    EXPECT_TRUE(eventually([&] {
      claimed =
          service_.client().request("POST", "/coupons/" + coupon + "/claims", Sales::as(kStreamer));
      return claimed.status == 202;
    })) << claimed.body;
    streamed_ = claimed.header("location") + "/events";
  }

  std::vector<Attack> attacks() const {
    const auto list = get("/announcements", "festival: " + std::to_string(crowded_) + "\r\n");
    const auto stream =
        get(streamed_, "Authorization: " + Sales::as(kStreamer).at("Authorization") + "\r\n");
    const auto ofCrowded = "?festival=" + std::to_string(crowded_);
    // Each has missed something else, so that each is a read of its own.
    std::vector<std::string> returning;
    for (int i = 3; i < 203; ++i)
      returning.push_back(
          get("/announcements/events" + ofCrowded,
              "Last-Event-ID: " + std::to_string(i) + ':' + std::to_string(i) + ":\r\n"));
    const std::string ofTen = "Content-Length: 10485760\r\n\r\n";
    const std::string declared = "Content-Length: 1000000\r\n\r\n";
    const std::string mebibytes(9UL * 1024 * 1024, ' ');
    return {
        {.name = "slow headers",
         .connections = 200,
         .bytes = always(get("/healthz", "X: " + std::string(1000, 'x'))),
         .piece = 1,
         .pause = 250ms},
        {.name = "slow bodies",
         .connections = 200,
         .bytes = always(kPost + declared + std::string(1000, ' ')),
         .piece = 200,
         .pause = 500ms},
        {.name = "endless headers",
         .connections = 20,
         .bytes =
             always(get("/healthz", repeated("X-More: " + std::string(500, 'x') + "\r\n", 1000))),
         .piece = 16'384,
         .pause = 20ms,
         .roundPause = 500ms},
        {.name = "5,000 requests, nothing read",
         .connections = 20,
         .bytes = always(repeated(get("/openapi.json"), 5000)),
         .reads = false},
        {.name = "pages of 1 MiB, nothing read",
         .connections = 10,
         .bytes = always(repeated(list, 5000)),
         .reads = false},
        {.name = "pages of 1 MiB", .connections = 5, .bytes = always(list), .roundPause = 100ms},
        {.name = "30,000 reads",
         .connections = 1,
         .bytes = always(repeated(get("/performances"), 30'000)),
         .pause = 1ms,
         .roundPause = 2000ms,
         .answers = 30'000},
        {.name = "9 of 10 MiB, declared",
         .connections = 20,
         .bytes = always("POST /announcements HTTP/1.1\r\nHost: x\r\n" + ofTen + mebibytes),
         .piece = 262'144,
         .roundPause = 1000ms},
        {.name = "9 of 10 MiB, in chunks",
         .connections = 20,
         .bytes = always(kPost + "Transfer-Encoding: chunked\r\n\r\na00000\r\n" + mebibytes),
         .piece = 262'144,
         .roundPause = 1000ms},
        {.name = "a body that is never complete",
         .connections = 20,
         .bytes = always(kPost + declared + std::string(900'000, ' ')),
         .piece = 65'536,
         .roundPause = 1000ms},
        {.name = "ambiguous requests",
         .connections = 5,
         .bytes = inTurn(allAmbiguous()),
         .pause = 20ms,
         .roundPause = 20ms},
        {.name = "asked in vain",
         .connections = 5,
         .bytes = inTurn(requestsInVain()),
         .pause = 10ms,
         .roundPause = 10ms},
        {.name = "metrics",
         .connections = 5,
         .bytes = always(get("/metrics")),
         .pause = 10ms,
         .roundPause = 50ms},
        {.name = "cookies",
         .connections = 5,
         .bytes = always(get("/healthz", "Cookie: " + std::string(64'000, ';') + "\r\n")),
         .pause = 10ms},
        {.name = "90,000 members",
         .connections = 5,
         .bytes = always(post("/councils/login", manyMembers(90'000))),
         .roundPause = 500ms},
        {.name = "event streams of one user",
         .connections = 1000,
         .bytes = always(stream),
         .pause = 500ms,
         .roundPause = 3000ms},
        {.name = "a hall's notifications, nothing read",
         .connections = 50,
         .bytes =
             always(get("/performances/1/seats/events" + ofCrowded, "Last-Event-ID: 3:3:\r\n")),
         .pause = 200ms,
         .roundPause = 1000ms,
         .reads = false,
         .answers = 0},
        {.name = "listeners that come back",
         .connections = 50,
         .bytes = inTurn(returning),
         .pause = 500ms,
         .roundPause = 500ms,
         .answers = 0},
        {.name = "listeners that come back and go",
         .connections = 20,
         .bytes = inTurn(returning),
         .roundPause = 200ms,
         .then = Attack::Then::kGoes},
        {.name = "reads, then nothing more",
         .connections = 20,
         .bytes = always(repeated(get("/performances"), 3)),
         .pause = 20ms,
         .roundPause = 200ms,
         .answers = 3,
         .then = Attack::Then::kFinishes},
        {.name = "pages of 1 MiB, and gone",
         .connections = 5,
         .bytes = always(list),
         .roundPause = 200ms,
         .then = Attack::Then::kGoes},
        {.name = "TRACE",
         .connections = 5,
         .bytes = always("TRACE /announcements HTTP/1.1\r\nHost: x\r\n\r\n"),
         .pause = 10ms,
         .roundPause = 20ms},
        {.name = "connections",
         .connections = kMaxConnections - 1000,
         .bytes = always(""),
         .pause = 1000ms,
         .roundPause = 1000ms,
         .reads = false,
         .answers = 0},
    };
  }

  // One client's day, until there is a wish to stop.
  void live(int index, const std::stop_token& wish) {
    const auto at = static_cast<std::size_t>(index);
    HttpClient client(service_.port());
    const auto user = Sales::as(index + 1);
    const Headers festival{{"festival", std::to_string(festivals_[at])}};
    const auto act = [&](const std::string& what, const std::function<Response()>& ask) {
      const auto start = steady_clock::now();
      const auto answer = ask();
      honest_.add(what, answer, steady_clock::now() - start);
      std::this_thread::sleep_for(100ms);
      return answer;
    };
    for (int round = 0; !wish.stop_requested(); ++round) {
      act("performances", [&] { return client.get("/performances"); });
      act("announcements", [&] { return client.get("/announcements", festival); });
      if (round < kSeatsEach)
        act("reservation", [&] {
          return client.send("POST", reservationPath(performance_),
                             reservationBody(index + 1, index * kSeatsEach + round + 1), user);
        });
      const auto created = act("announcement", [&] {
        return client.send("POST", "/announcements",
                           R"({"title":"t","content":"c","isPinned":true})", councils_[at]);
      });
      if (created.status == 201)
        act("removal", [&] {
          return client.request("DELETE",
                                "/announcements/" + created.json()["announcementId"].asString(),
                                councils_[at]);
        });
    }
  }

  static constexpr int kSeatsEach = 1000;
  static constexpr int kStreamer = kHonest + 1;

  // Times that are longer than the test are shortened; the limit of connections is what a test can
  // reach. The claim whose events are watched stays undecided.
  Service service_{sharedPg().createDatabase(),
                   {{"HTTP_MAX_CONNECTIONS", std::to_string(kMaxConnections)},
                    {"HTTP_HEADER_TIMEOUT_MS", "3000"},
                    {"HTTP_BODY_GRACE_MS", "3000"},
                    {"HTTP_UNREAD_TIMEOUT_MS", "3000"},
                    {"LAB", "true"},
                    {"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"},
                    {"QUEUE_WORK_MS", "600000"}}};
  const Sales sales_{service_.database()};
  std::int64_t performance_ = 0;
  std::vector<Headers> councils_;
  std::vector<std::int64_t> festivals_;
  std::int64_t crowded_ = 0;
  std::string streamed_;
  Honest honest_;
};

}  // namespace

TEST_F(DoorCrowd, HonestClientsAreServedWhateverOthersDo) {
  const auto before = service_.process().residentMegabytes();
  std::atomic<long> peak{0};
  std::jthread watcher([&](const std::stop_token& wish) {
    while (!wish.stop_requested()) {
      peak = std::max(peak.load(), service_.process().residentMegabytes());
      std::this_thread::sleep_for(20ms);
    }
  });
  // Commits without the service between, and a thread that only sleeps: how slow the machine is by
  // itself.
  StallWatch stalls;
  Honest control;
  std::jthread controller([&](const std::stop_token& wish) {
    PgSession session(service_.database());
    session.query("CREATE TABLE control (n bigint)");
    while (!wish.stop_requested()) {
      const auto start = steady_clock::now();
      session.query("INSERT INTO control VALUES (1)");
      control.latencies.push_back(steady_clock::now() - start);
      std::this_thread::sleep_for(10ms);
    }
  });
  std::vector<std::jthread> clients;
  for (int i = 0; i < kHonest; ++i)
    clients.emplace_back([this, i](const std::stop_token& wish) { live(i, wish); });
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(honest_.mutex);
    return honest_.latencies.size() > 2UL * kHonest;
  }));

  Attackers attackers(service_.port(), attacks());
  std::this_thread::sleep_for(std::chrono::seconds(sized(12, 60)));
  for (auto& client : clients) client.request_stop();
  clients.clear();
  const auto stall = stalls.longest();
  const auto results = attackers.stop();
  for (auto* thread : {&watcher, &controller}) {
    thread->request_stop();
    thread->join();
  }

  const auto p99 = honest_.percentile(0.99);
  std::cout << "memory: " << before << " MB before, " << peak << " MB at most\n"
            << honest_.latencies.size() << " honest answers: median "
            << milliseconds(honest_.percentile(0.5)) << " ms, p99 " << milliseconds(p99)
            << " ms, longest " << milliseconds(honest_.percentile(1))
            << " ms; commits beside them: p99 " << milliseconds(control.percentile(0.99))
            << " ms, longest " << milliseconds(control.percentile(1))
            << " ms; longest stall: " << milliseconds(stall) << " ms\n";
  for (const auto& [what, count] : honest_.byOutcome)
    std::cout << "  " << what << ": " << count << '\n';
  for (const auto& [name, result] : results) {
    std::cout << name << ": " << result.rounds << " rounds, " << result.closed << " closed";
    for (const auto& [status, count] : result.byStatus)
      std::cout << ", " << status << ": " << count;
    std::cout << '\n';
  }
  // They did what they are there for.
  for (const auto& [name, status] : std::map<std::string, int>{{"slow headers", 408},
                                                               {"slow bodies", 408},
                                                               {"endless headers", 431},
                                                               {"pages of 1 MiB", 200},
                                                               {"30,000 reads", 200},
                                                               {"9 of 10 MiB, declared", 413},
                                                               {"9 of 10 MiB, in chunks", 413},
                                                               {"ambiguous requests", 400},
                                                               {"asked in vain", 405},
                                                               {"metrics", 200},
                                                               {"cookies", 200},
                                                               {"90,000 members", 400},
                                                               {"event streams of one user", 429},
                                                               {"listeners that come back", 200},
                                                               {"reads, then nothing more", 200},
                                                               {"TRACE", 405}})
    EXPECT_GT(results.at(name).byStatus.contains(status) ? results.at(name).byStatus.at(status) : 0,
              0)
        << name;
  for (const auto* name : {"5,000 requests, nothing read", "pages of 1 MiB, nothing read"})
    EXPECT_GT(results.at(name).closed, 0) << name;
  for (const auto* name : {"a body that is never complete", "a hall's notifications, nothing read",
                           "listeners that come back and go", "pages of 1 MiB, and gone"})
    EXPECT_GE(results.at(name).rounds, 20) << name;
  EXPECT_LT(peak, kMaxMegabytes);
  // A sale is five statements: a machine that makes each of them wait is not the service's fault.
  // One that stands still for a second, twice, makes every hundredth answer as late.
  EXPECT_LT(p99,
            std::max<steady_clock::duration>(kMaxLatency, stall + 5 * control.percentile(0.99)));
  // A statement that misses its time on a busy machine is refused: rarely, and once for each client
  // and each of these times for which the machine itself stood still.
  auto missed = timesMissed(stall);
  for (const auto commit : control.latencies) missed += timesMissed(commit);
  const auto mayBeRefused = honest_.latencies.size() / 1000 + kHonest * missed;
  EXPECT_LE(honest_.refused(), mayBeRefused) << "the machine missed " << missed;

  // The first may come while the kernel still closes thousands of connections.
  auto quickest = steady_clock::duration::max();
  for (int i = 0; i < 3; ++i) {
    const auto start = steady_clock::now();
    EXPECT_EQ(untilServed([&] { return service_.client().get("/performances"); }).status, 200);
    quickest = std::min(quickest, steady_clock::now() - start);
  }
  EXPECT_LT(quickest, kMaxLatency);
  const auto metrics = service_.metrics();
  EXPECT_LT(metrics.size(), 300'000U) << "labels that clients choose";
  EXPECT_EQ(metrics.find("\nfesta_http_connections_refused_total 0\n"), std::string::npos)
      << "the limit of connections was not reached";
  const auto settles = [&] { return service_.process().residentMegabytes() < before + 60; };
  EXPECT_TRUE(eventually(settles)) << service_.process().residentMegabytes() << " MB remain";
  std::cout << "memory: " << service_.process().residentMegabytes() << " MB afterwards\n";
}

}  // namespace festa::test
