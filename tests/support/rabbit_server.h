// A real RabbitMQ of a test program's own, on free ports.
#pragma once

#include "services/queue/rabbitmq_settings.h"
#include "tests/support/process.h"

#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>

namespace festa::test {

class RabbitServer {
 public:
  RabbitServer();
  ~RabbitServer();
  RabbitServer(const RabbitServer&) = delete;
  RabbitServer& operator=(const RabbitServer&) = delete;

  int port() const { return port_; }
  // Returns when one can log in. After kill(): with everything that was confirmed.
  void start();
  void kill();  // SIGKILL
  // RabbitMQ 3.10 writes what it needs to find a new queue again half a second later; until then a
  // kill leaves the queue without a leader for ever.
  bool wouldFindAgain(const std::string& queue) const;
  void freeze() { broker_->signal(SIGSTOP); }
  void thaw() { broker_->signal(SIGCONT); }

  // Messages in a queue that no consumer has.
  std::int64_t messages(const std::string& queue) const;
  void put(const std::string& queue, const std::string& body) const;

 private:
  bool answers() const;

  const std::string folder_;
  const int port_;
  const int distributionPort_;
  const int epmdPort_;
  const Process epmd_;  // ends after the broker
  std::unique_ptr<Process> broker_;
};

// The server shared by the tests of this program.
RabbitServer& sharedRabbit();

}  // namespace festa::test
