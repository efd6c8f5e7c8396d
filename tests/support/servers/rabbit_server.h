// A real RabbitMQ of a test program's own, on free ports.
#pragma once

#include "services/queue/rabbitmq_settings.h"
#include "tests/support/servers/server.h"

#include <signal.h>

#include <cstdint>
#include <string>

namespace festa::test {

class RabbitServer {
 public:
  int port() const { return server_.port(); }
  // After kill(): with everything that was confirmed.
  void start() { server_.start(); }
  void kill();  // SIGKILL
  // RabbitMQ 3.10 writes what it needs to find a new queue again half a second later; until then a
  // kill leaves the queue without a leader for ever.
  bool wouldFindAgain(const std::string& queue) const;
  void freeze() { server_.process().signal(SIGSTOP); }
  void thaw() { server_.process().signal(SIGCONT); }

  // Messages in a queue that no consumer has.
  std::int64_t messages(const std::string& queue) const;
  void put(const std::string& queue, const std::string& body) const;

 private:
  Server server_{{.kind = "rabbitmq"}};
};

// The server shared by the tests of this program.
RabbitServer& sharedRabbit();

}  // namespace festa::test
