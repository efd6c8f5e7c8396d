// The door behind HAProxy, as it is shipped: what framing_test.cc and door_test.cc try on the
// service must not become possible because a second reader stands before it.
#include "tests/support/servers/haproxy.h"
#include "tests/http/api_test.h"
#include "tests/support/http/framing_cases.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"

#include <thread>

namespace festa::test {

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

const std::string kPing = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string kLogin = R"({"username":"council1","password":"council-demo-1"})";
const std::string kLast = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
constexpr auto npos = std::string::npos;
// The stack of docker/ says so, too: the proxy names the client.
const auto kBehindProxy = patient({{"HTTP_TRUSTED_PROXIES", "127.0.0.1"}});

std::string valueOf(const std::string& line, const std::string& name) {
  const auto start = line.find('"' + name + "\":\"");
  if (start == std::string::npos) return "";
  const auto at = start + name.size() + 4;
  return line.substr(at, line.find('"', at) - at);
}

// What came of one connection's bytes.
struct Exchange {
  std::string answers;
  bool isClosed;
  long read;                      // requests, as HAProxy counts them, refused ones included
  std::vector<std::string> seen;  // "method route" of requests, as the service counts them
};

class BehindHaProxy : public ApiTest {
 protected:
  static void SetUpTestSuite() {
    service = std::make_unique<Service>(sharedPg().createDatabase(), kBehindProxy);
    proxy = std::make_unique<HaProxy>(std::vector{service->port()});
  }
  static void TearDownTestSuite() {
    proxy.reset();
    service.reset();
  }

  static std::string answersTo(const std::string& bytes) {
    RawSocket socket(proxy->port());
    socket.send(bytes);
    return socket.readAll();
  }

  // Requests in the log, probes of readiness apart, up to the one with that id.
  static std::optional<std::vector<std::string>> seenUntil(const std::string& id,
                                                           std::size_t from) {
    std::istringstream lines(service->log().substr(from));
    std::vector<std::string> seen;
    for (std::string line; std::getline(lines, line);) {
      if (valueOf(line, "event") != "request" || valueOf(line, "route") == "/readyz") continue;
      if (valueOf(line, "request_id") == id) return seen;
      seen.push_back(valueOf(line, "method") + ' ' + valueOf(line, "route"));
    }
    return std::nullopt;
  }

  static Exchange exchange(const std::string& bytes) {
    static int number = 0;
    const auto from = service->log().size();
    const auto before = proxy->requests();
    RawSocket socket(proxy->port());
    socket.send(bytes);
    Exchange result{socket.readAll(), socket.isClosed(), 0, {}};
    // Bytes that a reader left unread on a connection to the service come before this request.
    const auto id = "after-" + std::to_string(++number);
    const auto next =
        HttpClient(proxy->port())
            .raw("GET /openapi.json HTTP/1.1\r\nHost: x\r\nX-Request-Id: " + id + "\r\n\r\n");
    EXPECT_EQ(next.status, 200) << "an answer to another request: " << next.body;
    EXPECT_EQ(next.header("x-request-id"), id);
    std::optional<std::vector<std::string>> seen;
    EXPECT_TRUE(eventually([&] { return (seen = seenUntil(id, from)).has_value(); }));
    result.seen = seen.value_or(std::vector<std::string>{"?"});
    result.read = proxy->requests() - before - 1;
    return result;
  }

  // The service saw what HAProxy sent, request by request, and the client has an answer to each.
  // The second request in `request` came through only where HAProxy, too, knows it as a second one.
  static void expectNothingHidden(const std::string& request, bool mayBeMended) {
    SCOPED_TRACE(request.substr(0, 200));
    const auto got = exchange(request + kLast);
    EXPECT_TRUE(got.isClosed);
    const auto answers = occurrences(got.answers, "HTTP/1.");
    const auto seen = static_cast<int>(got.seen.size());
    EXPECT_LE(seen, got.read) << testing::PrintToString(got.seen);
    EXPECT_LE(seen, answers) << got.answers;
    EXPECT_LE(answers, seen + 1) << "more than the answers of the service and HAProxy's refusal";
    if (mayBeMended && seen > 1) {
      EXPECT_EQ(seen, 3) << testing::PrintToString(got.seen);
      EXPECT_EQ(got.read, 3);
      EXPECT_EQ(answers, 3) << got.answers;
      return;
    }
    EXPECT_THAT(got.seen, testing::Not(testing::Contains("GET /performances")));
    if (!mayBeMended) {
      EXPECT_THAT(got.answers.substr(0, 10), testing::AnyOf("", "HTTP/1.1 4"));
    }
  }

  static inline std::unique_ptr<HaProxy> proxy;
};

}  // namespace

TEST_F(BehindHaProxy, NothingIsHiddenByAmbiguousLengths) {
  for (const auto& request : requestsWithAmbiguousLengths()) {
    const bool isSameTwice = request.find("Content-Length: 2\r\nContent-Length: 2\r\n") != npos ||
                             request.find("Content-Length: 2, 2\r\n") != npos;
    expectNothingHidden(request, isSameTwice);
  }
}

// HAProxy unfolds lines and ends one at a bare line feed. Control characters reach the service,
// which refuses the request; the next one on the connection is another.
TEST_F(BehindHaProxy, NothingIsHiddenByHeaderLines) {
  for (const auto& request : requestsWithAmbiguousLines()) {
    bool mayBeMended = false;
    for (const auto& line :
         {"\r\n Content-Length: 2\r\n"s, "Folded: a\r\n b\r\n"s, "Folded: a\r\n\tb\r\n"s,
          "X: a\nContent-Length: 2\r\n"s, "X: a\0b\r\n"s, "X: \x7f\r\n"s, "X: \x01\r\n"s})
      mayBeMended = mayBeMended || request.find(line) != npos;
    expectNothingHidden(request, mayBeMended);
  }
}

TEST_F(BehindHaProxy, NothingIsHiddenByChunks) {
  for (const auto& request : requestsWithAmbiguousChunks()) expectNothingHidden(request, false);
  for (const auto& request : requestsOfHttp10WithChunks()) expectNothingHidden(request, false);
}

// The service refuses a request without a host; HAProxy joins two that are the same.
TEST_F(BehindHaProxy, NothingIsHiddenByHosts) {
  for (const auto& request : requestsWithoutOneHost())
    expectNothingHidden(request, request.find("Host: b\r\n") == npos);
}

TEST_F(BehindHaProxy, WellFormedChunksAndTrailersArrive) {
  for (const auto& [encoding, chunks] : wellFormedChunks(kLogin)) {
    SCOPED_TRACE(encoding + ' ' + chunks);
    const auto got =
        exchange(kPost + "Transfer-Encoding: " + encoding + "\r\n\r\n" + chunks + kLast);
    EXPECT_TRUE(got.answers.starts_with("HTTP/1.1 201")) << got.answers;
    EXPECT_THAT(got.seen, testing::ElementsAre("POST /councils/login", "GET /healthz"));
  }
  const auto trailer = answersTo(
      "POST /announcements HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: " +
      council.at("Authorization") + "\r\n\r\n" + kLast);
  EXPECT_TRUE(trailer.starts_with("HTTP/1.1 401")) << "a trailer became a header: " << trailer;
}

TEST_F(BehindHaProxy, BytesMayComeOneByOne) {
  RawSocket socket(proxy->port());
  for (const char byte : kPost +
                             "Transfer-Encoding: chunked\r\n\r\n1;x\r\n{\r\n1\r\n}\r\n0\r\nT: 1\r\n"
                             "\r\n" +
                             kLast)
    ASSERT_TRUE(socket.send(std::string(1, byte)));
  const auto answers = socket.readAll();
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 422")) << answers;
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 200"), 1) << answers;
}

TEST_F(BehindHaProxy, ExpectationsAreAnsweredBeforeTheBodyIsSent) {
  for (const auto& [header, body] : std::vector<std::pair<std::string, std::string>>{
           {"Content-Length: " + std::to_string(kLogin.size()), kLogin},
           {"Transfer-Encoding: chunked", wellFormedChunks(kLogin).back().bytes}}) {
    SCOPED_TRACE(header);
    RawSocket socket(proxy->port());
    socket.send(kPost + header + "\r\nExpect: 100-continue\r\n\r\n");
    ASSERT_TRUE(socket.readUntil("HTTP/1.1 100 ", 1, 5s)) << socket.received();
    socket.send(body);
    EXPECT_TRUE(socket.readUntil("HTTP/1.1 201", 1, 10s)) << socket.received();
  }
  RawSocket refused(proxy->port());
  refused.send(
      "POST /announcements HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(refused.readUntil("HTTP/1.1 401", 1, 5s)) << refused.received();
}

TEST_F(BehindHaProxy, RequestsBeforeAnErrorAreAnsweredFirst) {
  const auto answers = answersTo("GET /performances HTTP/1.1\r\nHost: x\r\n\r\n" + kPing +
                                 "GET /healthz HTTP/1.1\r\nbroken\r\n\r\n" + kHidden);
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 200"), 2) << answers;
  EXPECT_EQ(occurrences(answers, "HTTP/1.1 400"), 1) << answers;
  EXPECT_GT(answers.find("HTTP/1.1 400"), answers.rfind("HTTP/1.1 200"));
}

TEST_F(BehindHaProxy, UnknownMethodsAndUpgradesAreRefused) {
  for (const auto* method : {"TRACE", "BREW", "PROPFIND", "get", "CONNECT"})
    EXPECT_EQ(
        answersTo(method + " /announcements HTTP/1.1\r\nHost: x\r\n"s + "Connection: close\r\n\r\n")
            .substr(8, 2),
        " 4")
        << method;
  // The proxy does not look into a tunnel.
  for (const auto* protocol : {"h2c", "websocket"}) {
    const auto answers =
        answersTo("GET /performances HTTP/1.1\r\nHost: x\r\nUpgrade: "s + protocol +
                  "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                  "Connection: Upgrade\r\n\r\n" +
                  kLast);
    EXPECT_TRUE(answers.starts_with("HTTP/1.1 400")) << answers;
    EXPECT_EQ(occurrences(answers, "HTTP/1.1 200"), 1) << answers;
  }
}

TEST_F(BehindHaProxy, HeadersAreBounded) {
  for (const auto& headers :
       {"X: " + std::string(70'000, 'x') + "\r\n",
        repeated("X: " + std::string(1000, 'x') + "\r\n", 70), repeated("X: y\r\n", 101)}) {
    const auto got =
        exchange("GET /performances HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n" + kLast);
    EXPECT_THAT(got.answers.substr(0, 12), testing::AnyOf("HTTP/1.1 400", "HTTP/1.1 431"));
    EXPECT_EQ(occurrences(got.answers, "HTTP/1.1 200"), 0) << got.answers;
  }
}

// Only the time is another one than in the file: ten seconds are too long for a test.
TEST_F(BehindHaProxy, SlowHeadersEndWith408) {
  const HaProxy impatient({service->port()},
                          {{"timeout http-request 10s", "timeout http-request 1s"}});
  RawSocket slow(impatient.port());
  slow.send("GET /performances HTTP/1.1\r\nHost: x\r\nX: ");
  // The second request on a connection, too. HAProxy's time for the first one begins with the
  // connection: a client that stalls before it sends comes again.
  std::optional<RawSocket> second;
  ASSERT_TRUE(eventually([&] {
    second.emplace(impatient.port());
    second->send(kPing);
    return second->readUntil("HTTP/1.1 200", 1, 5s);
  }));
  second->send("GET /perf");
  for (auto* socket : {&slow, &*second}) {
    while (!socket->readUntil("HTTP/1.1 408", 1, 200ms) && !socket->isClosed()) socket->send("a");
    EXPECT_EQ(occurrences(socket->readAll(), "HTTP/1.1 408"), 1) << socket->received();
    EXPECT_TRUE(socket->isClosed());
  }
}

TEST_F(BehindHaProxy, SlowBodiesEndWithTheServices408) {
  Service impatient(sharedPg().createDatabase(), patient({{"HTTP_BODY_GRACE_MS", "1000"}}));
  const HaProxy front({impatient.port()});
  RawSocket body(front.port());
  body.send(kPost + "Content-Length: 100000\r\n\r\n{");
  while (!body.readUntil("HTTP/1.1 408", 1, 500ms) && !body.isClosed()) body.send(" ");
  EXPECT_EQ(occurrences(body.received(), "HTTP/1.1 408"), 1) << body.received();
}

// The client goes on sending: the answer still arrives.
TEST_F(BehindHaProxy, AnEarlyRefusalReachesAClientThatStillSends) {
  for (int i = 0; i < 10; ++i)
    for (const auto& [path, length, code] :
         std::vector<std::tuple<std::string, std::size_t, std::string>>{
             {"/announcements", 1'000'000, "UNAUTHENTICATED"},
             {"/councils/login", 20'000'000, "BODY_TOO_LARGE"}}) {
      SCOPED_TRACE(path);
      RawSocket socket(proxy->port());
      socket.send("POST " + path +
                  " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
                  std::to_string(length) + "\r\n\r\n");
      socket.sendSome(std::string(length, ' '));
      EXPECT_TRUE(socket.readUntil("\"code\":\"" + code + '"', 1, 10s)) << socket.received();
      EXPECT_EQ(occurrences(socket.received(), "HTTP/1.1 "), 1) << socket.received();
    }
}

TEST_F(BehindHaProxy, EveryPipelinedRequestOfAClientThatReadsIsAnswered) {
  EXPECT_EQ(answersToPipelined(proxy->port(), 1000), 1000);
}

TEST_F(BehindHaProxy, ClientsThatAskWithoutReadingCostTheServiceNothing) {
  const auto before = service->process().residentMegabytes();
  const auto ask = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<RawSocket> greedy;
  for (int i = 0; i < 50; ++i) {
    greedy.emplace_back(proxy->port());
    greedy.back().sendSome(repeated(ask, 5000));
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(answersTo(kLast).substr(9, 3), "200");
  EXPECT_LT(service->process().residentMegabytes() - before, kSanitized ? 10'000 : 60);
}

TEST_F(BehindHaProxy, BodiesOfAllClientsTogetherAreBounded) {
  const auto before = service->process().residentMegabytes();
  std::vector<RawSocket> senders;
  for (int i = 0; i < 100; ++i) {
    senders.emplace_back(proxy->port());
    senders.back().send(kPost + "Content-Length: 1000000\r\n\r\n" + std::string(999'000, ' '));
  }
  int refused = 0;
  for (auto& sender : senders) refused += sender.readUntil("OVERLOADED", 1, 100ms) ? 1 : 0;
  EXPECT_GT(refused, 20);
  EXPECT_LT(service->process().residentMegabytes() - before, kSanitized ? 10'000 : 150);
}

// Every spelling that the service understands as /metrics.
TEST_F(BehindHaProxy, MetricsAreNotServedOutside) {
  const auto ask = [](int port, const std::string& target) {
    return HttpClient(port).raw("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
  };
  for (const std::string path : {"/metrics",
                                 "/metrics?x=1",
                                 "/metrics#x",
                                 "/METRICS",
                                 "/%6detrics",
                                 "/%6Detrics",
                                 "/%6d%65%74%72%69%63%73",
                                 "/%256detrics",
                                 "/metrics/",
                                 "/metrics%00",
                                 "/metrics%2f",
                                 "/metrics%",
                                 "/metrics;x",
                                 "//metrics",
                                 "/./metrics",
                                 "/x/../metrics",
                                 "/%2fmetrics",
                                 "/metrics%3f",
                                 "/metrics+",
                                 "/metrics%20"})
    for (const std::string prefix : {"", "/api", "/%61pi", "/%61%70%69", "/API", "/api%2f.."})
      for (const std::string authority : {"", "http://x"}) {
        const auto target = authority + prefix + path;
        SCOPED_TRACE(target);
        const auto answer = ask(proxy->port(), target);
        EXPECT_THAT(answer.status, testing::AnyOf(400, 404)) << answer.body.substr(0, 300);
        EXPECT_EQ(answer.body.find("festa_"), npos);
      }
  EXPECT_EQ(ask(service->port(), "/api/metrics").status, 200) << "it is there from inside";
}

TEST_F(BehindHaProxy, ForwardedForOfAClientIsDropped) {
  auto settings = kBehindProxy;
  settings["LIMITS_LOGINS_PER_MINUTE"] = "3";
  Service limited(sharedPg().createDatabase(), settings);
  const HaProxy front({limited.port()});
  const auto login = [](int port, const std::string& lines) {
    return HttpClient(port).raw(kPost + lines + "Content-Length: 2\r\n\r\n{}").status;
  };
  int number = 0;
  const auto lines = [&] {
    const auto address = "192.0.2." + std::to_string(++number);
    return std::vector<std::string>{"X-Forwarded-For: " + address + "\r\n",
                                    "x-forwarded-for: " + address + ", " + address + "\r\n",
                                    repeated("X-Forwarded-For: " + address + "\r\n", 2)};
  };
  int limitedOnes = 0;
  for (int i = 0; i < 4; ++i)
    for (const auto& line : lines()) limitedOnes += login(front.port(), line) == 429 ? 1 : 0;
  EXPECT_GE(limitedOnes, 8) << "an invented address was believed";
  EXPECT_EQ(login(limited.port(), "X-Forwarded-For: 192.0.2.99\r\n"), 422)
      << "the service believes who asks from the proxy's address";
}

TEST_F(BehindHaProxy, EventsArriveWhenTheyHappen) {
  Service queued(sharedPg().createDatabase(),
                 patient({{"LAB", "true"},
                          {"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"},
                          {"QUEUE_WORK_MS", "1000"}}));
  const HaProxy front({queued.port()});
  const auto coupon = std::to_string(Sales(queued.database()).coupon(1000, false));
  const auto user = Sales::as(1);
  const std::string done = R"("state":"DONE")";
  std::optional<RawSocket> stream;
  // On a busy machine a claim may be decided before the stream is opened.
  const auto looksInTime = [&] {
    const auto claimed = queued.client().request("POST", "/coupons/" + coupon + "/claims", user);
    EXPECT_EQ(claimed.status, 202) << claimed.body;
    stream.emplace(front.port());
    stream->send("GET " + claimed.header("location") +
                 "/events HTTP/1.1\r\nHost: x\r\nAuthorization: " + user.at("Authorization") +
                 "\r\n\r\n");
    return stream->readUntil("data: {", 1, 10s) && occurrences(stream->received(), done) == 0;
  };
  ASSERT_TRUE(eventually(looksInTime)) << "nothing before the end: " << stream->received();
  EXPECT_TRUE(stream->readUntil(done, 1, 20s)) << stream->received();
}

}  // namespace festa::test
