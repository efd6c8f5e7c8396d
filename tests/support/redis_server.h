// A real Redis of a test's own, on a free port.
#pragma once

#include "tests/support/process.h"

#include <drogon/nosql/RedisClient.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace festa::test {

class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> arguments = {},
                       std::map<std::string, std::string> environment = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  int port() const { return port_; }
  void start();
  void kill();  // SIGKILL; nothing was persisted
  Process& process() { return *process_; }

  // A client of Drogon's, connected. Its commands take turns on its connections; one that is not
  // answered within the patience has failed.
  drogon::nosql::RedisClientPtr connect() const { return connectTo(port_); }
  static drogon::nosql::RedisClientPtr connectTo(
      int port, std::size_t connections = 1,
      std::chrono::milliseconds patience = std::chrono::milliseconds{500});

  // One command on a connection of its own, e.g. {"GET", "k"}; the reply as text, lists by lines.
  std::string command(const std::vector<std::string>& arguments) const;
  // How often clients called a command, by the server's own count.
  long calls(const std::string& name) const;

 private:
  const std::vector<std::string> arguments_;
  const std::map<std::string, std::string> environment_;
  const std::string folder_;
  const int port_;
  std::unique_ptr<Process> process_;
};

// The server shared by the tests of this program.
RedisServer& sharedRedis();

}  // namespace festa::test
