#include "tests/support/http/seat_watchers.h"

#include <arpa/inet.h>
#include <drogon/utils/Utilities.h>
#include <json/json.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace festa::test {

namespace {

Json::Value parsed(const std::string& text) {
  Json::Value json;
  std::istringstream(text) >> json;
  return json;
}

std::set<Seat> seatsIn(const std::string& snapshot) {
  std::set<Seat> sold;
  const auto json = parsed(snapshot);
  for (const auto& section : json["sections"]) {
    const auto bits = drogon::utils::base64Decode(section["sold"].asString());
    for (int i = 0; i < section["count"].asInt(); ++i)
      if ((static_cast<unsigned char>(bits[static_cast<std::size_t>(i / 8)]) >> (i % 8)) & 1)
        sold.insert({section["location"].asString(), i + 1});
  }
  return sold;
}

// Watchers get the same texts: each is parsed once.
template <class Value, class Parse>
const Value& remembered(std::map<std::string, Value>& known, const std::string& text, Parse parse) {
  const auto found = known.find(text);
  return found != known.end() ? found->second : known.emplace(text, parse(text)).first->second;
}

int connectTo(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  throw std::runtime_error("a watcher cannot connect");
}

}  // namespace

void WatchedHall::read(const std::string& text, Time now) {
  rest_ += text;
  for (auto end = rest_.find("\n\n"); end != std::string::npos; end = rest_.find("\n\n")) {
    apply(rest_.substr(0, end), now);
    rest_.erase(0, end + 2);
  }
}

void WatchedHall::apply(const std::string& event, Time now) {
  static std::map<std::string, Json::Value> known;
  const auto at = event.find("data: ");
  if (at == std::string::npos) return;
  const auto data = event.substr(at + 6);
  if (event.find("event: snapshot") != std::string::npos) return applySnapshot(data, now);
  ++changes_;
  const auto& json = remembered(known, data, parsed);
  for (const auto& seat : json["sold"]) add({seat[0].asString(), seat[1].asInt()}, now);
  for (const auto& seat : json["free"]) sold_.erase({seat[0].asString(), seat[1].asInt()});
}

void WatchedHall::applySnapshot(const std::string& data, Time now) {
  static std::map<std::string, std::set<Seat>> known;
  const auto& seats = remembered(known, data, seatsIn);
  if (snapshots_++ > 0)
    for (const auto& seat : seats) add(seat, now);
  sold_ = seats;
}

void WatchedHall::add(const Seat& seat, Time now) {
  if (sold_.insert(seat).second) learnt_.emplace_back(seat, now);
}

struct SeatWatchers::Impl {
  std::vector<int> sockets;
  // What has come and when. It is understood when somebody asks: a reader that parses is late
  // itself.
  struct Piece {
    std::size_t watcher;
    WatchedHall::Time at;
    std::string text;
  };
  std::mutex mutex;
  std::vector<Piece> pieces;       // guarded by mutex
  std::vector<WatchedHall> halls;  // of the thread that asks
  std::atomic<bool> stopped{false};
  std::thread reader;

  void readAll() {
    std::vector<pollfd> all;
    for (const int socket : sockets) all.push_back({socket, POLLIN, 0});
    std::string buffer(65536, '\0');
    while (!stopped) {
      if (poll(all.data(), all.size(), 50) <= 0) continue;
      const std::lock_guard guard(mutex);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].revents == 0) continue;
        const auto size = recv(all[i].fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (size <= 0)
          all[i].fd = -1;  // the stream has ended
        else
          pieces.push_back({i, std::chrono::steady_clock::now(),
                            buffer.substr(0, static_cast<std::size_t>(size))});
      }
    }
  }

  std::vector<WatchedHall>& understood() {
    std::vector<Piece> read;
    {
      const std::lock_guard guard(mutex);
      read.swap(pieces);
    }
    for (const auto& piece : read) halls[piece.watcher].read(piece.text, piece.at);
    return halls;
  }
};

SeatWatchers::SeatWatchers(int port, std::int64_t performance, int count)
    : impl_(std::make_unique<Impl>()) {
  const auto request = "GET /performances/" + std::to_string(performance) +
                       "/seats/events HTTP/1.1\r\nHost: x\r\n\r\n";
  for (int i = 0; i < count; ++i) {
    impl_->sockets.push_back(connectTo(port));
    if (::send(impl_->sockets.back(), request.data(), request.size(), MSG_NOSIGNAL) <= 0)
      throw std::runtime_error("a watcher cannot ask");
  }
  impl_->halls.resize(static_cast<std::size_t>(count));
  impl_->reader = std::thread([impl = impl_.get()] { impl->readAll(); });
}

SeatWatchers::~SeatWatchers() {
  stop();
  for (const int socket : impl_->sockets) ::close(socket);
}

void SeatWatchers::stop() {
  impl_->stopped = true;
  if (impl_->reader.joinable()) impl_->reader.join();
}

bool SeatWatchers::allHaveBegun() const {
  const auto& halls = impl_->understood();
  return std::all_of(halls.begin(), halls.end(),
                     [](const WatchedHall& hall) { return hall.hasBegun(); });
}

bool SeatWatchers::allSee(const std::set<Seat>& sold) const {
  const auto& halls = impl_->understood();
  return std::all_of(halls.begin(), halls.end(),
                     [&](const WatchedHall& hall) { return hall.sold() == sold; });
}

const std::vector<WatchedHall>& SeatWatchers::halls() const {
  return impl_->understood();
}

}  // namespace festa::test
