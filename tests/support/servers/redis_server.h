// A real Redis of a test's own, on a free port.
#pragma once

#include "tests/support/servers/server.h"

#include <drogon/nosql/RedisClient.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace festa::test {

class RedisServer {
 public:
  // Arguments of redis-server, and variables in its environment.
  explicit RedisServer(const std::vector<std::string>& arguments = {},
                       const std::map<std::string, std::string>& environment = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  int port() const { return server_.port(); }
  void start() { server_.start(); }
  void kill();  // SIGKILL; nothing was persisted
  Process& process() { return server_.process(); }

  // A client of Drogon's, connected. Its commands take turns on its connections; one that is not
  // answered within the patience has failed.
  drogon::nosql::RedisClientPtr connect() const { return connectTo(port()); }
  static drogon::nosql::RedisClientPtr connectTo(
      int port, std::size_t connections = 1,
      std::chrono::milliseconds patience = std::chrono::seconds{2});

  // One command on a connection of its own, e.g. {"GET", "k"}; the reply as text, lists by lines.
  std::string command(const std::vector<std::string>& arguments) const;
  // How often clients called a command, by the server's own count.
  long calls(const std::string& name) const;

 private:
  Server server_;
};

// The server shared by the tests of this program.
RedisServer& sharedRedis();

}  // namespace festa::test
