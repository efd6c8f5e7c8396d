#include "tests/support/haproxy.h"

#include "tests/support/http.h"
#include "tests/support/loops.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace festa::test {

namespace {

std::string contentOf(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot be read: " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
    throw std::runtime_error("not once in the configuration of HAProxy: " + from);
  text.replace(at, from.size(), to);
}

// Every line of a server becomes one of ours or goes.
std::string withServers(const std::string& text, const std::vector<int>& ports) {
  std::istringstream lines(text);
  std::string result;
  std::size_t next = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string keyword, name, address, rest;
    words >> keyword >> name >> address;
    std::getline(words, rest);
    if (keyword != "server")
      result += line + '\n';
    else if (next < ports.size())
      result += "  server " + name + " 127.0.0.1:" + std::to_string(ports[next++]) + rest + '\n';
  }
  if (next < ports.size())
    throw std::runtime_error("too few servers in the configuration of HAProxy");
  return result;
}

// HAProxy does not start where its connections, two files each, exceed what the machine allows.
std::string allowedConnections() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return std::to_string(std::min<rlim_t>(8000, (files.rlim_max - 200) / 2));
}

}  // namespace

HaProxy::HaProxy(const std::vector<int>& instances, const Changes& changes)
    : folder_(makeTemporaryFolder()), port_(freePort()), operationsPort_(freePort()) {
  auto text = withServers(contentOf(HAPROXY_CONFIGURATION), instances);
  replace(text, "bind :8080", "bind 127.0.0.1:" + std::to_string(port_));
  replace(text, "bind :8404", "bind 127.0.0.1:" + std::to_string(operationsPort_));
  replace(text, "maxconn 8000", "maxconn " + allowedConnections());
  for (const auto& [from, to] : changes) replace(text, from, to);
  const auto file = folder_ + "/haproxy.cfg";
  std::ofstream(file) << text;
  process_ = std::make_unique<Process>(
      Command{.arguments = {"haproxy", "-db", "-f", file}, .output = folder_ + "/log"});
  const bool isReady = eventually([&] {
    return !process_->isRunning() ||
           metric(R"(haproxy_backend_active_servers{proxy="festabook"})") ==
               static_cast<long>(instances.size());
  });
  if (!isReady || !process_->isRunning())
    throw std::runtime_error("HAProxy did not start: " + log());
}

HaProxy::~HaProxy() {
  process_->signal(SIGTERM);
  process_->wait();
}

long HaProxy::requests() const {
  return metric(R"(haproxy_frontend_http_requests_total{proxy="public"})");
}

std::string HaProxy::log() const {
  return contentOf(folder_ + "/log");
}

long HaProxy::metric(const std::string& series) const {
  HttpClient operations(operationsPort_, 5);
  const auto text = operations.raw("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").body;
  const auto at = text.find('\n' + series + ' ');
  return at == std::string::npos ? -1 : std::stol(text.substr(at + series.size() + 2));
}

}  // namespace festa::test
