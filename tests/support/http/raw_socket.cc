#include "tests/support/http/raw_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace festa::test {

namespace {

using std::chrono::steady_clock;

int remaining(steady_clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

}  // namespace

RawSocket::RawSocket(int port, int window)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (window > 0) {
    // A sender's buffer grows with the size of segments.
    const int segment = 536;
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    setsockopt(socket_, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    throw std::runtime_error("no connection");
  }
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
}

RawSocket::RawSocket(RawSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      closed_(other.closed_),
      received_(std::move(other.received_)) {}

RawSocket::~RawSocket() {
  if (socket_ >= 0) ::close(socket_);
}

std::size_t RawSocket::sendSome(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

bool RawSocket::send(const std::string& bytes, std::chrono::milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  std::size_t sent = 0;
  while (true) {
    sent += sendSome(bytes.substr(sent));
    if (sent == bytes.size()) return true;
    pollfd writable{socket_, POLLOUT, 0};
    if (poll(&writable, 1, remaining(deadline)) <= 0 || (writable.revents & (POLLERR | POLLHUP)))
      return false;
  }
}

void RawSocket::finishSending() {
  ::shutdown(socket_, SHUT_WR);
}

void RawSocket::reset() {
  const linger atOnce{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
  ::close(std::exchange(socket_, -1));
  closed_ = true;
}

bool RawSocket::receive(int timeoutMs) {
  pollfd readable{socket_, POLLIN, 0};
  if (closed_ || poll(&readable, 1, timeoutMs) <= 0) return false;
  char chunk[65536];
  const auto count = recv(socket_, chunk, sizeof chunk, 0);
  if (count <= 0) {
    closed_ = true;
    return false;
  }
  received_.append(chunk, static_cast<std::size_t>(count));
  return true;
}

std::size_t RawSocket::skip() {
  const auto before = received_.size();
  while (receive(0)) {
  }
  const auto count = received_.size() - before;
  received_.resize(before);
  return count;
}

std::string RawSocket::readAll(std::chrono::milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (!closed_ && steady_clock::now() < deadline) receive(remaining(deadline));
  return received_;
}

bool RawSocket::readUntil(const std::string& text, int times, std::chrono::milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (occurrences(received_, text) < times) {
    if (closed_ || steady_clock::now() >= deadline) return false;
    receive(remaining(deadline));
  }
  return true;
}

std::string requestBytes(const std::string& method, const std::string& path, const Headers& headers,
                         const std::string& body) {
  std::string bytes = method + ' ' + path + " HTTP/1.1\r\nHost: x\r\n";
  for (const auto& [name, value] : headers) bytes += name + ": " + value + "\r\n";
  if (!body.empty()) bytes += "Content-Type: application/json\r\n";
  if (method != "GET") bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return bytes + "\r\n" + body;
}

std::vector<Response> answersIn(std::string received) {
  std::vector<Response> answers;
  while (true) {
    const auto end = received.find("\r\n\r\n");
    if (end == std::string::npos) return answers;
    std::istringstream lines(received.substr(0, end));
    Response answer;
    std::string version, line;
    lines >> version >> answer.status;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const auto colon = line.find(':');
      auto name = line.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const auto value = line.substr(std::min(line.size(), colon + 2));
      answer.headers[name] = value.substr(0, value.find('\r'));
    }
    const auto length = answer.header("content-length");
    const auto size = length.empty() ? 0 : std::stoul(length);
    if (received.size() < end + 4 + size) return answers;
    answer.body = received.substr(end + 4, size);
    received.erase(0, end + 4 + size);
    answers.push_back(std::move(answer));
  }
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

int answersToPipelined(int port, int requests) {
  constexpr std::chrono::seconds kLongest{30};
  RawSocket socket(port);
  std::string all;
  for (int i = 0; i < requests; ++i)
    all += "GET " + std::string(i % 3 == 0 ? "/performances" : "/healthz") +
           " HTTP/1.1\r\nHost: x\r\n\r\n";
  // The sender and the reader use different directions of one socket.
  std::thread sender([&] { socket.send(all, kLongest); });
  socket.readUntil("HTTP/1.1 200", requests, kLongest);
  sender.join();
  return occurrences(socket.received(), "HTTP/1.1 200");
}

}  // namespace festa::test
