// Ordered work on RabbitMQ: durable, shared by any number of processes.
#pragma once

#include "services/queue/rabbitmq_publisher.h"
#include "services/queue/rabbitmq_work_consumer.h"

#include <mutex>

namespace festa::queue {

// Quorum queues `<prefix>.waiting` (one active consumer of all processes), `<prefix>.work` and
// `<prefix>.dead`, persistent messages, confirms for every publish, acknowledgements after the
// handlers. An entry leaves a queue only when it is safe in the next one, or finished.
//
// librabbitmq blocks, so it lives on three threads with a connection each; event loops only hand
// over and take. Each connection comes back by itself; while the publisher's is away, publish()
// throws at once.
class RabbitMqQueue : public OrderedQueue {
 public:
  RabbitMqQueue(RabbitMqSettings settings, QueueObserver& observer);
  ~RabbitMqQueue() override;

  void start(EntryHandlers& handlers, trantor::EventLoop* loop) override;
  bool isAvailable() const override { return publisher_.isAvailable(); }
  drogon::Task<> publish(QueueEntry entry) override { return publisher_.publish(entry); }
  QueueCounts counts() const override;
  // Handlers that run longer than the settings' patience end unacknowledged: their entries go to
  // another process.
  void stop() override;

 private:
  const RabbitMqSettings settings_;
  QueueObserver& observer_;
  RabbitMqPublisher publisher_;
  std::unique_ptr<RabbitMqWaitingConsumer> waiting_;
  mutable std::mutex mutex_;
  std::unique_ptr<RabbitMqWorkConsumer> work_;        // set by start(), under mutex_
  std::vector<std::unique_ptr<RabbitMqLink>> links_;  // after what they use
};

}  // namespace festa::queue
