// One connection to RabbitMQ with one channel in confirm mode: librabbitmq behind values and
// exceptions.
#pragma once

#include "services/queue/rabbitmq_settings.h"
#include "services/queue/wake_up.h"

#include <amqp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

namespace festa::queue {

// The connection is of no use any more.
class RabbitMqFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct RabbitMqDelivery {
  std::uint64_t tag = 0;
  bool redelivered = false;
  std::int64_t earlier = 0;  // deliveries of this message before this one
  std::string body;
};

struct RabbitMqConfirm {
  std::uint64_t tag = 0;
  bool multiple = false;  // and all before it
  bool accepted = true;
};

struct RabbitMqLength {
  std::int64_t messages = 0;
};

using RabbitMqEvent = std::variant<RabbitMqDelivery, RabbitMqConfirm, RabbitMqLength>;

// Used on one thread, which may block for the settings' time-outs; everything throws
// RabbitMqFailure. Heartbeats flow while next() is called at least twice per heartbeat.
class RabbitMqConnection {
 public:
  // Connects and declares the queues.
  explicit RabbitMqConnection(const RabbitMqSettings& settings);

  // Deliveries come as events from now on, up to `prefetch` without an ack.
  void consume(const std::string& queue, int prefetch);
  // No more deliveries, apart from those on their way.
  void cancel();
  void ack(std::uint64_t tag);
  void reject(std::uint64_t tag, bool requeue);

  // Persistent. The confirm carries the number of messages published so far.
  void publish(const std::string& queue, const std::string& body);
  std::uint64_t published() const { return published_; }

  // The answer comes as an event.
  void askLength(const std::string& queue);

  // What has arrived; does not wait. Throws when the broker closed the connection, returned a
  // message that has no queue, cancelled the consumer, or fell silent.
  std::optional<RabbitMqEvent> next();
  // Until there may be an event, the wake-up, or the time is over.
  void wait(const WakeUp& wake, SteadyTime until) const;

  // Waits until the broker has seen everything sent before. Without it the broker sees the
  // connection break, and delivers again what was not acknowledged.
  void close();

 private:
  struct Destroy {
    void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
  };

  void connect(const RabbitMqSettings& settings);
  void declare(const RabbitMqSettings& settings);
  void declareQueue(const std::string& name, amqp_table_t arguments);
  std::optional<RabbitMqEvent> read(const amqp_frame_t& frame);
  std::optional<RabbitMqEvent> readMethod(const amqp_method_t& method);
  std::optional<RabbitMqEvent> finishedDelivery();

  const std::unique_ptr<amqp_connection_state_t_, Destroy> state_;
  std::uint64_t published_ = 0;
  std::optional<RabbitMqDelivery> partial_;  // its body is still arriving
  std::uint64_t missing_ = 0;                // bytes of that body
};

}  // namespace festa::queue
