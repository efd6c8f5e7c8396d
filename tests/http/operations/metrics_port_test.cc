// /metrics at a port of its own.
#include "tests/http/api_test.h"
#include "tests/support/loops.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace festa::test {

namespace {

// Not in the record of answers: the document describes the main port.
Response ask(int port, const std::string& method, const std::string& path) {
  return HttpClient(port).raw(method + ' ' + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

void expectNothingThere(int port, const std::string& path) {
  SCOPED_TRACE(path + " at " + std::to_string(port));
  expectProblem(ask(port, "GET", path), 404, "ROUTE_NOT_FOUND");
  const auto options = ask(port, "OPTIONS", path);
  EXPECT_EQ(options.status, 404);
}

bool accepts(const char* address, int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = inet_addr(address);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool isAccepted = connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  close(fd);
  return isAccepted;
}

class MetricsPort : public testing::Test {
 protected:
  const int port_ = freePort();
  Service service_{sharedPg().createDatabase(), patient({{"METRICS_PORT", std::to_string(port_)}})};
};

}  // namespace

TEST_F(MetricsPort, HasTheMetricsAndTheMainPortDoesNot) {
  const auto metrics = ask(port_, "GET", "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.header("content-type"), testing::StartsWith("text/plain; version=0.0.4"));
  EXPECT_THAT(metrics.body, testing::HasSubstr("festa_http_requests_total"));
  for (const auto* path : {"/metrics", "/api/metrics"}) expectNothingThere(service_.port(), path);
  EXPECT_EQ(service_.client().get("/festivals", {{"festival", "1"}}).status, 200);
}

TEST_F(MetricsPort, HasNothingElseButHealth) {
  EXPECT_EQ(ask(port_, "GET", "/healthz").status, 200);
  EXPECT_EQ(service_.client().get("/healthz").status, 200);
  for (const auto* path :
       {"/", "/readyz", "/festivals", "/performances", "/docs", "/openapi.json", "/admin/locks",
        "/councils/login", "/announcements/1", "/api/festivals", "/nowhere", "/metrics/x"})
    expectNothingThere(port_, path);
  const auto login = R"({"username":"council1","password":"council-demo-1"})";
  HttpClient client(port_);
  const auto answer = client.raw(
      "POST /councils/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(std::string(login).size()) + "\r\n\r\n" + login);
  expectProblem(answer, 404, "ROUTE_NOT_FOUND");
}

TEST_F(MetricsPort, ItsRequestsAreCountedLikeOthers) {
  ask(port_, "GET", "/festivals");
  const auto counted = [&] {
    const auto text = ask(port_, "GET", "/metrics").body;
    return text.find(R"(method="GET",route="/metrics",status="200"})") != std::string::npos &&
           text.find(R"(method="other",route="unmatched",status="404"})") != std::string::npos;
  };
  EXPECT_TRUE(eventually(counted));
}

TEST_F(MetricsPort, EndsWithTheService) {
  HttpClient idle(port_);
  EXPECT_EQ(idle.raw("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  service_.stop();
}

TEST(MetricsAddress, IsTheOneThatIsConfigured) {
  const auto port = freePort();
  const Service service(sharedPg().createDatabase(),
                        {{"METRICS_PORT", std::to_string(port)}, {"METRICS_ADDRESS", "127.0.0.2"}});
  EXPECT_TRUE(accepts("127.0.0.2", port));
  EXPECT_FALSE(accepts("127.0.0.1", port));
  EXPECT_TRUE(accepts("127.0.0.1", service.port()));
}

}  // namespace festa::test
