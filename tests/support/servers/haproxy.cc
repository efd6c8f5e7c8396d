#include "tests/support/servers/haproxy.h"

#include "tests/support/http/http.h"

#include <signal.h>

namespace festa::test {

namespace {

std::vector<std::string> optionsOf(const std::vector<int>& instances,
                                   const HaProxy::Changes& changes, int port) {
  std::vector<std::string> options;
  if (port > 0) options = {"--port", std::to_string(port)};
  for (const int instance : instances)
    options.insert(options.end(), {"--instance", std::to_string(instance)});
  for (const auto& [from, to] : changes) options.insert(options.end(), {"--change", from, to});
  return options;
}

}  // namespace

HaProxy::HaProxy(const std::vector<int>& instances, const Changes& changes, int port)
    : server_({.kind = "haproxy", .arguments = optionsOf(instances, changes, port)}) {}

HaProxy::~HaProxy() {
  server_.process().signal(SIGTERM);
  server_.process().wait();
}

long HaProxy::requests() const {
  return metric(R"(haproxy_frontend_http_requests_total{proxy="public"})");
}

long HaProxy::metric(const std::string& series) const {
  HttpClient operations(std::stoi(server_.word("operations")), 5);
  const auto text = operations.raw("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body;
  const auto at = text.find('\n' + series + ' ');
  return at == std::string::npos ? -1 : std::stol(text.substr(at + series.size() + 2));
}

}  // namespace festa::test
