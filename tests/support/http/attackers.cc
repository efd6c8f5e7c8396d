#include "tests/support/http/attackers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <queue>
#include <string_view>

namespace festa::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kStatusLine = "HTTP/1.1 ";
constexpr std::size_t kStatusLineSize = 12;
constexpr std::size_t kReadAtOnce = 1024UL * 1024;

}  // namespace

struct Attackers::Connection {
  Connection(const Attack& what, AttackResult& into) : attack(what), result(into) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Attack& attack;
  AttackResult& result;
  int socket = -1;
  std::string bytes;
  std::size_t sent = 0;
  int answers = 0;   // of this round
  std::string rest;  // received; may be the beginning of a status line

  void close() {
    if (socket >= 0) ::close(socket);
    socket = -1;
  }

  bool connect(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rest.clear();
    begin();
    return socket >= 0 &&
           (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ||
            errno == EINPROGRESS);
  }

  void begin() {
    bytes = attack.bytes();
    sent = 0;
    answers = 0;
    if (bytes.empty()) ++result.rounds;
  }

  bool isClosed() const {
    pollfd state{socket, POLLRDHUP, 0};
    return poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
  }

  void count(std::string_view chunk) {
    rest += chunk;
    std::size_t from = 0;
    for (auto at = rest.find(kStatusLine);
         at != std::string::npos && at + kStatusLineSize <= rest.size();
         at = rest.find(kStatusLine, from)) {
      ++result.byStatus[std::atoi(rest.substr(at + kStatusLine.size(), 3).c_str())];
      ++answers;
      from = at + kStatusLineSize;
    }
    rest.erase(0, std::max(from, rest.size() - std::min(rest.size(), kStatusLineSize - 1)));
  }

  // False: the peer has closed.
  bool receive() {
    static thread_local std::vector<char> buffer(256UL * 1024);
    for (std::size_t all = 0; all < kReadAtOnce;) {
      const auto size = recv(socket, buffer.data(), buffer.size(), 0);
      if (size == 0) return false;
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      count({buffer.data(), static_cast<std::size_t>(size)});
      all += static_cast<std::size_t>(size);
    }
    return true;
  }

  // False: the peer has closed.
  bool send() {
    const auto size = std::min(attack.piece, bytes.size() - sent);
    const auto count = ::send(socket, bytes.data() + sent, size, MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    sent += static_cast<std::size_t>(count);
    if (sent < bytes.size()) return true;
    ++result.rounds;
    if (attack.then == Attack::Then::kFinishes) shutdown(socket, SHUT_WR);
    return true;
  }

  // Without a word: a reset instead of the end of a stream.
  void go() {
    const linger atOnce{1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
    close();
  }

  // The time until its next turn.
  milliseconds act(int port) {
    if (socket < 0 && !connect(port)) {
      close();
      return attack.roundPause;
    }
    const bool isThere =
        (attack.reads ? receive() : !isClosed()) && (sent == bytes.size() || send());
    if (!isThere) {
      ++result.closed;
      close();
      return attack.roundPause;
    }
    if (sent == bytes.size() && attack.then == Attack::Then::kGoes) {
      go();
      return attack.roundPause;
    }
    if (sent < bytes.size() || attack.answers == 0 || answers < attack.answers) return attack.pause;
    begin();
    return attack.roundPause;
  }
};

Attackers::Attackers(int port, const std::vector<Attack>& attacks)
    : port_(port), attacks_(attacks), thread_([this](const std::stop_token& wish) { run(wish); }) {}

Attackers::~Attackers() {
  stop();
}

std::map<std::string, AttackResult> Attackers::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return results_;
}

void Attackers::run(const std::stop_token& wish) {
  std::list<Connection> connections;
  using Turn = std::pair<steady_clock::time_point, Connection*>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  const auto start = steady_clock::now();
  for (const auto& attack : attacks_)
    for (int i = 0; i < attack.connections; ++i) {
      auto& connection = connections.emplace_back(attack, results_[attack.name]);
      // Not all at the same moment.
      turns.emplace(start + attack.roundPause * i / attack.connections, &connection);
    }
  while (!wish.stop_requested() && !turns.empty()) {
    const auto [time, connection] = turns.top();
    const auto now = steady_clock::now();
    if (time > now) {
      std::this_thread::sleep_for(std::min<steady_clock::duration>(time - now, milliseconds(20)));
      continue;
    }
    turns.pop();
    turns.emplace(now + connection->act(port_), connection);
  }
}

}  // namespace festa::test
