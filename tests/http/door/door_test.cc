// What clients may do at the door without a token: bounded, and without harm to others.
#include "tests/http/api_test.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

const std::string kPing = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

// Sanitizers keep what is freed.
long grown(long megabytes) {
  return kSanitized ? 10'000 : megabytes;
}

double metric(const Service& service, const std::string& name) {
  std::istringstream lines(service.metrics());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + ' ')) return std::stod(line.substr(name.size()));
  return -1;
}

// A list of 1 MiB, as many bytes as an answer can have.
std::string askForLargeList(Service& service) {
  service.newFestival();
  const auto festival = std::to_string(service.lastFestival());
  PgSession(service.database())
      .query(
          "INSERT INTO announcements (festival_id, title, content, is_pinned)"
          " SELECT $1::bigint, 't', repeat('가', 3000), false FROM generate_series(1, 200)",
          {festival});
  return "GET /announcements HTTP/1.1\r\nHost: x\r\nfestival: " + festival + "\r\n\r\n";
}

bool isServed(const Service& service) {
  return service.client().get("/healthz").status == 200;
}

// How many files each event loop of a process waits for, by its epoll's descriptor.
std::map<std::string, int> loopsOf(pid_t process) {
  std::map<std::string, int> loops;
  const auto folder = "/proc/" + std::to_string(process);
  for (const auto& file : std::filesystem::directory_iterator(folder + "/fd")) {
    std::error_code hasGone;
    const auto target = std::filesystem::read_symlink(file, hasGone);
    if (target != "anon_inode:[eventpoll]") continue;
    const auto name = file.path().filename().string();
    std::ifstream lines(folder + "/fdinfo/" + name);
    for (std::string line; std::getline(lines, line);) loops[name] += line.starts_with("tfd:");
  }
  return loops;
}

// A connection that was answered once, and the event loop that has it.
struct Placed {
  RawSocket socket;
  std::string loop;
};

Placed connectedTo(Service& service, int window) {
  const auto before = loopsOf(service.process().pid());
  Placed placed{RawSocket(service.port(), window), ""};
  placed.socket.send(kPing);
  EXPECT_TRUE(placed.socket.readUntil("alive", 1, 10s));
  for (const auto& [loop, files] : loopsOf(service.process().pid()))
    if (const auto known = before.find(loop); known != before.end() && files > known->second)
      placed.loop = loop;
  return placed;
}

}  // namespace

TEST(Door, ConnectionsBeyondTheLimitAreClosedAtOnceAndCounted) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_MAX_CONNECTIONS", "50"}}));
  std::vector<RawSocket> sockets;
  // Readiness probes may still have a place: another one comes for each that is refused.
  ASSERT_TRUE(eventually([&] {
    RawSocket socket(service.port());
    socket.send(kPing);
    if (socket.readUntil("HTTP/1.1 200", 1, 5s)) sockets.push_back(std::move(socket));
    return sockets.size() == 50;
  })) << sockets.size()
      << " were served";
  for (int i = 0; i < 100; ++i) {
    RawSocket beyond(service.port());
    beyond.send(kPing);
    ASSERT_EQ(beyond.readAll(5s), "");
    ASSERT_TRUE(beyond.isClosed());
  }
  sockets.clear();
  ASSERT_TRUE(eventually([&] { return isServed(service); })) << "no place came free";
  EXPECT_GE(metric(service, "festa_http_connections_refused_total"), 100);
}

TEST(Door, OneAddressMayBeLimitedButNotATrustedProxy) {
  const auto limited = patient({{"HTTP_MAX_CONNECTIONS_PER_ADDRESS", "5"}});
  Service service(sharedPg().createDatabase(), limited);
  std::vector<RawSocket> sockets;
  const auto countServed = [&](const Service& at) {
    sockets.clear();
    int served = 0;
    for (int i = 0; i < 10; ++i) {
      sockets.emplace_back(at.port());
      sockets.back().send(kPing);
      served += sockets.back().readUntil("HTTP/1.1 200", 1, 5s) ? 1 : 0;
    }
    return served;
  };
  EXPECT_TRUE(eventually([&] { return countServed(service) == 5; }));
  auto trusting = limited;
  trusting["HTTP_TRUSTED_PROXIES"] = "127.0.0.1";
  Service behindProxy(sharedPg().createDatabase(), trusting);
  EXPECT_EQ(countServed(behindProxy), 10);
}

namespace {

// What programs that this one starts meanwhile may open.
class LoweredFileLimit {
 public:
  explicit LoweredFileLimit(rlim_t files) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lowered{files, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lowered);
  }
  ~LoweredFileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  LoweredFileLimit(const LoweredFileLimit&) = delete;
  LoweredFileLimit& operator=(const LoweredFileLimit&) = delete;

  rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

}  // namespace

// The soft limit of the shell that starts it is low.
TEST(Door, TheOpenFileLimitIsRaised) {
  const auto database = sharedPg().createDatabase();
  constexpr rlim_t kLow = 256;
  const LoweredFileLimit lowered(kLow);
  ASSERT_GT(lowered.hard(), kLow) << "there is nothing to raise";
  Service service(database, patient());
  rlimit limit{};
  ASSERT_EQ(prlimit(service.process().pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  EXPECT_EQ(limit.rlim_cur, lowered.hard());
}

TEST(Door, AClientThatAsksWithoutReadingIsPausedAndThenClosed) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_UNREAD_TIMEOUT_MS", "1000"}}));
  const auto before = service.process().residentMegabytes();
  const auto ask = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<RawSocket> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.emplace_back(service.port());
    greedy.back().sendSome(repeated(ask, 5000));
  }
  EXPECT_TRUE(isServed(service));
  EXPECT_LT(service.process().residentMegabytes() - before, grown(120));
  // Closed for not reading; what was sent before can be read.
  for (auto& socket : greedy)
    EXPECT_TRUE(eventually([&] { return socket.sendSome(ask) == 0 || !socket.send(ask, 50ms); }));
  EXPECT_TRUE(eventually([&] { return metric(service, "festa_http_connections") < 10; }))
      << metric(service, "festa_http_connections");
}

// Fifteen that leave 4 MiB each are on one event loop, and those who come later and leave less on
// another.
TEST(Door, WhoHasLeftTheMostIsClosedOnWhateverLoopItIs) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_THREADS", "2"}}));
  const auto ask = askForLargeList(service);
  constexpr int kWindow = 8 * 1024;
  std::map<std::string, std::vector<RawSocket>> byLoop;
  const auto hasEnough = [&] {
    int enough = 0;
    for (const auto& [loop, sockets] : byLoop) enough += !loop.empty() && sockets.size() >= 15;
    return enough == 2;
  };
  for (int i = 0; i < 200 && !hasEnough(); ++i) {
    auto placed = connectedTo(service, kWindow);
    byLoop[placed.loop].push_back(std::move(placed.socket));
  }
  ASSERT_TRUE(hasEnough());
  byLoop.erase("");
  auto& greedy = byLoop.begin()->second;
  auto& modest = byLoop.rbegin()->second;
  for (std::size_t i = 0; i < 15; ++i) greedy[i].send(repeated(ask, 4));
  // Each has been given the beginning of its answers.
  for (std::size_t i = 0; i < 15; ++i) ASSERT_TRUE(greedy[i].readUntil("HTTP/1.1 200", 2, 30s));
  constexpr std::size_t kModest = 4;
  for (std::size_t i = 0; i < kModest; ++i) modest[i].send(repeated(ask, 3) + kPing);
  for (std::size_t i = 0; i < kModest; ++i)
    EXPECT_TRUE(modest[i].readUntil("alive", 2, 30s)) << "closed for what others have left";
  int closed = 0;
  for (std::size_t i = 0; i < 15; ++i)
    closed += greedy[i].readUntil("HTTP/1.1 200", 5, 10s) ? 0 : 1;
  EXPECT_GT(closed, 0) << "the bound was not reached";
}

// Their answers would be kept in memory until the stream ends.
TEST(Door, NoRequestIsReadBehindAStream) {
  Service service(sharedPg().createDatabase(), patient());
  const auto ask = askForLargeList(service);
  const auto performance = Sales(service.database()).performance(5);
  const auto before = service.process().residentMegabytes();
  RawSocket stream(service.port());
  stream.send("GET /performances/" + std::to_string(performance) +
              "/seats/events HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(stream.readUntil("event: snapshot", 1, 10s)) << stream.received();
  stream.sendSome(repeated(ask, 400));
  const auto sale = service.client().send("POST", reservationPath(performance),
                                          reservationBody(1, 1), Sales::as(1));
  ASSERT_EQ(sale.status, 200) << sale.body;
  EXPECT_TRUE(stream.readUntil("event: changes", 1, 10s)) << "the stream goes on";
  EXPECT_EQ(service.metrics().find("route=\"/announcements\""), std::string::npos);
  EXPECT_LT(service.process().residentMegabytes() - before, grown(60));
}

// Otherwise a client would send its next request where none is read.
TEST(Door, AStreamEndsWithItsConnection) {
  Service service(sharedPg().createDatabase(),
                  patient({{"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"}}));
  const auto coupon = std::to_string(Sales(service.database()).coupon(1, true));
  const auto claim =
      service.client().request("POST", "/coupons/" + coupon + "/claims", Sales::as(1));
  ASSERT_EQ(claim.status, 202) << claim.body;
  RawSocket stream(service.port());
  stream.send("GET " + claim.header("location") + "/events HTTP/1.1\r\nHost: x\r\n" +
              "Authorization: " + Sales::as(1).at("Authorization") + "\r\n\r\n");
  const auto events = stream.readAll();
  EXPECT_TRUE(stream.isClosed());
  EXPECT_TRUE(events.find(R"("state":"DONE")") != std::string::npos) << events;
  EXPECT_TRUE(events.ends_with("0\r\n\r\n")) << events;
}

TEST(Door, AnswersThatWereReadAreFreed) {
  Service service(sharedPg().createDatabase(), patient());
  const auto ask = askForLargeList(service);
  std::vector<RawSocket> sockets;
  const auto before = service.process().residentMegabytes();
  for (int i = 0; i < 30; ++i) {
    sockets.emplace_back(service.port());
    sockets.back().send(repeated(ask, 8) + kPing);
    ASSERT_TRUE(sockets.back().readUntil("alive", 1, 30s));
  }
  // What is freed goes back to the system after a while.
  EXPECT_TRUE(eventually([&] {
    sockets.front().send(kPing);
    return service.process().residentMegabytes() - before < grown(60);
  })) << service.process().residentMegabytes() - before;
}

TEST(Door, ClientsThatReadAreServedBesideClientsThatDoNot) {
  Service service(sharedPg().createDatabase(), patient());
  const auto ask = askForLargeList(service);
  const auto before = service.process().residentMegabytes();
  std::vector<RawSocket> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.emplace_back(service.port());
    greedy.back().sendSome(repeated(ask, 5000));
    RawSocket honest(service.port());
    for (int round = 1; round <= 5; ++round) {
      ASSERT_TRUE(honest.send(repeated(ask, 2)));
      ASSERT_TRUE(honest.readUntil("HTTP/1.1 ", 2 * round, 30s))
          << i << (honest.isClosed() ? ": closed" : ": not answered");
      // Under load a list may be refused; its reader is not.
      EXPECT_EQ(occurrences(honest.received(), "HTTP/1.1 200") +
                    occurrences(honest.received(), "HTTP/1.1 503"),
                2 * round);
    }
  }
  EXPECT_LT(service.process().residentMegabytes() - before, grown(150));
}

// The 10 came at once. The others are read when these are answered.
TEST(Door, FourRequestsOfAConnectionAreReadAhead) {
  Service service(
      sharedPg().createDatabase(),
      patient({{"LAB", "true"}, {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"}}));
  auto headers = service.newFestival();
  const std::string body = R"({"title":"t","content":"c","isPinned":false})";
  const auto create = requestBytes("POST", "/announcements", headers, body);
  headers["X-Lab-Fault"] = "pause-before-commit=6000";
  RawSocket holder(service.port());
  holder.send(requestBytes("POST", "/announcements", headers, body));
  ASSERT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  RawSocket ahead(service.port());
  ahead.send(repeated(create, 10));
  int most = 0;
  EXPECT_TRUE(eventually([&] {
    most = std::max(most, service.locked("waiting"));
    return most >= 4;
  }));
  // A fifth would come within a moment.
  eventually([&] { return (most = std::max(most, service.locked("waiting"))) > 4; }, 500ms);
  EXPECT_EQ(most, 4);
  ahead.readAll(10ms);
  EXPECT_EQ(ahead.received(), "") << "the key was not held all the while";
  EXPECT_TRUE(ahead.readUntil("HTTP/1.1 201", 10, 20s)) << ahead.received();
}

// One after the other, so that each is looked at alone. What the kernels have taken is what can be
// read while the service stands still.
TEST(Door, NothingIsReadWhileMoreThan256KiBOfAnswersAreNotTaken) {
  Service service(sharedPg().createDatabase(), patient());
  const auto ask = requestBytes("GET", "/openapi.json", {});
  const auto answered = [&] {
    return occurrences(service.log(), R"("route":"/openapi.json","status":200)");
  };
  RawSocket taken(service.port());
  taken.send(ask);
  ASSERT_TRUE(eventually([&] {
    taken.readAll(10ms);
    return answersIn(taken.received()).size() == 1;
  }));
  const auto size = taken.received().size();
  ASSERT_LT(size, 256U * 1024) << "the bound cannot be told apart from one answer";
  RawSocket unread(service.port(), 4096);
  const int first = answered();
  int asked = first;
  do {
    unread.send(ask);
    ++asked;
  } while (eventually([&] { return answered() == asked; }, kSanitized ? 10s : 6s));
  const auto answers = static_cast<std::size_t>(asked - 1 - first);
  service.process().signal(SIGSTOP);
  std::size_t read = 0;
  do {
    read = unread.received().size();
    unread.readAll(1s);
  } while (unread.received().size() > read);
  service.process().signal(SIGCONT);
  const auto kept = answers * size - std::min(answers * size, unread.received().size());
  EXPECT_GT(kept, 256U * 1024);
  EXPECT_LE(kept, 256U * 1024 + size);
  // It is read when it can be.
  EXPECT_TRUE(unread.readUntil("HTTP/1.1 200", static_cast<int>(answers + 1), 20s));
}

TEST(Door, EveryPipelinedRequestOfAClientThatReadsIsAnswered) {
  const Service service(sharedPg().createDatabase(), patient());
  EXPECT_EQ(answersToPipelined(service.port(), 3000), 3000);
}

TEST(Door, SlowHeadersAndBodiesEndWith408) {
  Service service(sharedPg().createDatabase(),
                  patient({{"HTTP_HEADER_TIMEOUT_MS", "1000"}, {"HTTP_BODY_GRACE_MS", "1000"}}));
  RawSocket silent(service.port());  // has sent nothing: it may wait
  RawSocket slow(service.port());
  slow.send("GET /healthz HTTP/1.1\r\nHost: x\r\nX: ");
  RawSocket second(service.port());  // the second request on a connection, too
  second.send(kPing);
  ASSERT_TRUE(second.readUntil("HTTP/1.1 200", 1, 5s));
  second.send("G");
  RawSocket body(service.port());
  body.send(
      "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Content-Length: 100000\r\n\r\n{");
  for (auto* socket : {&slow, &second}) {
    while (!socket->readUntil("HTTP/1.1 408", 1, 200ms) && !socket->isClosed()) socket->send("a");
    EXPECT_EQ(occurrences(socket->readAll(), R"("code":"REQUEST_TIMEOUT")"), 1)
        << socket->received();
    EXPECT_TRUE(socket->isClosed());
  }
  while (!body.readUntil("HTTP/1.1 408", 1, 500ms) && !body.isClosed()) body.send(" ");
  EXPECT_EQ(occurrences(body.readAll(), R"("code":"REQUEST_TIMEOUT")"), 1) << body.received();
  silent.send(kPing);
  EXPECT_TRUE(silent.readUntil("HTTP/1.1 200", 1, 5s));
}

TEST(Door, RequestsAreRefusedByTheirHeadersBeforeABodyIsRead) {
  Service service(sharedPg().createDatabase(), patient());
  const auto answerTo = [&](const std::string& head) {
    RawSocket socket(service.port());
    socket.send(head + "\r\n\r\n{");  // the rest of the body never comes
    const auto answer = socket.readAll(5s);
    EXPECT_TRUE(socket.isClosed()) << head;
    return answer.substr(9, 3);
  };
  const std::string json = "Host: x\r\nContent-Type: application/json\r\nContent-Length: ";
  EXPECT_EQ(answerTo("POST /nowhere HTTP/1.1\r\n" + json + "100"), "404");
  EXPECT_EQ(answerTo("PUT /announcements HTTP/1.1\r\n" + json + "100"), "405");
  EXPECT_EQ(answerTo("POST /announcements HTTP/1.1\r\n" + json + "100"), "401");
  EXPECT_EQ(answerTo("POST /councils/login HTTP/1.1\r\n" + json + "1048577"), "413");
  EXPECT_EQ(answerTo("POST /festivals HTTP/1.1\r\nAuthorization: " +
                     service.newFestival().at("Authorization") + "\r\n" + json + "100"),
            "403");
}

// The client goes on sending: the answer still arrives.
TEST(Door, AnEarlyRefusalReachesAClientThatStillSends) {
  Service service(sharedPg().createDatabase(), patient());
  for (int i = 0; i < 10; ++i) {
    RawSocket socket(service.port());
    socket.send(
        "POST /announcements HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000000\r\n\r\n");
    socket.sendSome(std::string(1'000'000, ' '));
    EXPECT_EQ(occurrences(socket.readAll(10s), R"("code":"UNAUTHENTICATED")"), 1)
        << socket.received();
  }
}

TEST(Door, BodiesOfAllClientsTogetherAreBounded) {
  Service service(sharedPg().createDatabase(), patient({{"HTTP_BODY_BYTES_PER_SECOND", "0"}}));
  const auto before = service.process().residentMegabytes();
  std::vector<RawSocket> senders;
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    senders.emplace_back(service.port());
    senders.back().send(
        "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000000\r\n\r\n" +
        std::string(999'000, ' '));
  }
  for (auto& sender : senders)
    if (sender.readUntil("OVERLOADED", 1, 100ms)) ++refused;
  EXPECT_GT(refused, 20);
  EXPECT_LT(service.process().residentMegabytes() - before, grown(150));
  senders.clear();
  EXPECT_TRUE(eventually([&] {
    return service.client()
               .send("POST", "/councils/login",
                     R"({"username":"council1","password":"council-demo-1"})")
               .status == 201;
  })) << "the bytes of closed connections were not given back";
}

TEST(Door, ManyMembersAreRefused) {
  Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  std::string members = "{";
  for (int i = 0; i < 1001; ++i) members += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  EXPECT_EQ(client.send("POST", "/councils/login", members + "}").code(), "MALFORMED_JSON");
  EXPECT_EQ(
      client.send("POST", "/councils/login", R"({"a":[)" + repeated("1,", 1000) + "1]}").code(),
      "MALFORMED_JSON");
}

// Reading a line costs by its length, whatever is in it. Without drogon-http-cookies.patch 60,000
// semicolons cost two hundred times what as many letters do.
TEST(Door, ManyCookiesCostLittleMoreThanTheirBytes) {
  Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  const auto costOf = [&](const Headers& headers) {
    const auto before = service.process().processorSeconds();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.get("/healthz", headers).status, 200);
    return service.process().processorSeconds() - before;
  };
  const auto letters = costOf({{"X-Letters", std::string(60'000, 'x')}});
  const auto cookies = costOf({{"Cookie", std::string(60'000, ';')}});
  // The clock of a process has steps of 10 ms.
  EXPECT_LT(cookies, 10 * std::max(letters, 0.05)) << letters << " s for letters";
}

TEST(Door, UnknownPathsShareOneMetricSeries) {
  Service service(sharedPg().createDatabase(), patient());
  auto client = service.client();
  const auto series = [&] { return occurrences(service.metrics(), "festa_http_requests_total{"); };
  client.get("/nowhere");
  client.request("PUT", "/announcements");
  series();  // asking is one, too
  const auto before = series();
  for (const auto* method : {"GET", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "MOVE", "COPY"})
    for (int i = 0; i < 20; ++i) client.request(method, "/nowhere/" + std::to_string(i));
  for (const auto* method : {"PUT", "TRACE", "BREW", "MOVE", "COPY", "MKCOL"})
    for (const auto* path : {"/announcements", "/festivals", "/healthz", "/coupons/1"})
      client.request(method, path);
  EXPECT_EQ(series(), before);
}

}  // namespace festa::test
