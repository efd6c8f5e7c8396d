// A TCP proxy on loopback that loses what it is told to lose.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace festa::test {

// Changes the replies of one connection. Called on that connection's thread.
class ReplyFilter {
 public:
  virtual ~ReplyFilter() = default;
  // What the client gets, after these bytes from the server.
  virtual std::string pass(std::string_view bytes) = 0;
};

// Forwards every connection to a port on 127.0.0.1. Thread-safe.
class TcpProxy {
 public:
  // `filter` makes the filter of each connection; null: replies pass as they are.
  explicit TcpProxy(int targetPort, std::unique_ptr<ReplyFilter> (*filter)() = nullptr);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }

  // From now on, answers on the connections that exist do not reach the client; requests still
  // reach the server.
  void swallowReplies();
  // Bytes from the server that were swallowed so far.
  std::size_t swallowed() const { return swallowed_; }
  // The connection on which the next request comes is held back, from that request on, until
  // letThrough(), or lost when the connection ends; others flow. One at a time.
  void holdBackNext() { holdNext_ = true; }
  bool isHoldingBack() const { return holding_; }
  void letThrough();
  // Ends all connections that exist; new ones are forwarded as usual.
  void cut();
  // From now on, what clients send is kept.
  void keepRequests() { keeps_ = true; }
  // What came on each connection, in the order in which they were made.
  std::vector<std::string> requests();
  // New connections go to another port: the address has moved to another server.
  void redirect(int port) { targetPort_ = port; }

 private:
  struct Connection {
    int client;
    int server;
    std::atomic<bool> swallow{false};
    std::atomic<bool> closed{false};
    std::atomic<bool> held{false};  // was held back
    std::string kept = {};          // guarded by mutex_
  };

  void accept();
  void pump(Connection& connection, int from, int to, bool isReply);
  void close(Connection& connection);

  std::unique_ptr<ReplyFilter> (*const filter_)();
  std::atomic<int> targetPort_;
  int port_ = 0;
  int listener_ = -1;
  std::atomic<std::size_t> swallowed_{0};
  std::atomic<bool> holdNext_{false};
  std::atomic<bool> holding_{false};
  std::atomic<bool> keeps_{false};
  std::mutex mutex_;
  std::list<Connection> connections_;  // guarded by mutex_; elements stay where they are
  std::vector<std::thread> threads_;   // guarded by mutex_
  std::thread acceptor_;
};

}  // namespace festa::test
