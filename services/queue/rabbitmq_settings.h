// How to reach RabbitMQ, and what to expect of it.
#pragma once

#include "services/queue/ordered_queue.h"

#include <string>

namespace festa::queue {

struct RabbitMqSettings {
  std::string host = "127.0.0.1";
  int port = 5672;
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";
  std::string prefix = "festabook";   // of the names of the queues
  int workers = 4;                    // entries that this process works on at a time
  int deliveryLimit = 5;              // tries of an entry's work
  std::chrono::seconds heartbeat{2};  // a peer that is silent for twice as long is gone
  Millis connectTimeout{2'000};       // for the connection, the login, and each answer after it
  Millis publishTimeout{2'000};       // for a confirm
  Millis stopPatience{2'000};         // for handlers that run when stop() is called
  Millis countEvery{1'000};           // how often the broker is asked for the queue's length
  Millis firstRetryPause{50};         // before an entry whose work failed goes back; doubles
};

struct RabbitMqNames {
  explicit RabbitMqNames(const std::string& prefix)
      : waiting(prefix + ".waiting"), work(prefix + ".work"), dead(prefix + ".dead") {}

  const std::string waiting;
  const std::string work;
  const std::string dead;
};

}  // namespace festa::queue
