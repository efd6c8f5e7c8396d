#include "tests/support/servers/tcp_proxy.h"

#include "tests/support/servers/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace festa::test {

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool sendAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

TcpProxy::TcpProxy(int targetPort, std::unique_ptr<ReplyFilter> (*filter)())
    : filter_(filter), targetPort_(targetPort) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Its connections inherit it: silencePort() can have the port while some of them still end.
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("the proxy cannot listen");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept(); });
}

TcpProxy::~TcpProxy() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
  cut();
  for (auto& thread : threads_) thread.join();
  for (auto& connection : connections_) {
    ::close(connection.client);
    ::close(connection.server);
  }
  silencePort(port_);
}

void TcpProxy::accept() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = loopback(targetPort_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      ::close(server);
      continue;
    }
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::lock_guard guard(mutex_);
    auto& connection = connections_.emplace_back();
    connection.client = client;
    connection.server = server;
    threads_.emplace_back(
        [this, &connection] { pump(connection, connection.client, connection.server, false); });
    threads_.emplace_back(
        [this, &connection] { pump(connection, connection.server, connection.client, true); });
  }
}

void TcpProxy::pump(Connection& connection, int from, int to, bool isReply) {
  char bytes[16384];
  const auto filter = isReply && filter_ != nullptr ? filter_() : nullptr;
  while (true) {
    const auto count = recv(from, bytes, sizeof bytes, 0);
    if (count <= 0) break;
    if (!isReply && keeps_) {
      const std::lock_guard guard(mutex_);
      connection.kept.append(bytes, static_cast<std::size_t>(count));
    }
    if (!isReply && holdNext_.exchange(false)) {
      connection.held = true;
      holding_ = true;
      holding_.wait(true);
    }
    if (isReply && connection.swallow) {
      swallowed_ += static_cast<std::size_t>(count);
      continue;
    }
    std::string_view passed(bytes, static_cast<std::size_t>(count));
    std::string changed;
    if (filter != nullptr) passed = changed = filter->pass(passed);
    if (!sendAll(to, passed)) break;
  }
  close(connection);
  if (connection.held) letThrough();
}

std::vector<std::string> TcpProxy::requests() {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> all;
  for (const auto& connection : connections_) all.push_back(connection.kept);
  return all;
}

void TcpProxy::letThrough() {
  holding_ = false;
  holding_.notify_all();
}

void TcpProxy::close(Connection& connection) {
  if (connection.closed.exchange(true)) return;
  shutdown(connection.client, SHUT_RDWR);
  shutdown(connection.server, SHUT_RDWR);
}

void TcpProxy::swallowReplies() {
  const std::lock_guard guard(mutex_);
  for (auto& connection : connections_) connection.swallow = true;
}

void TcpProxy::cut() {
  const std::lock_guard guard(mutex_);
  for (auto& connection : connections_) close(connection);
  letThrough();
}

}  // namespace festa::test
