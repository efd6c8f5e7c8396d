// Admits entries one by one, in the order of the waiting queue.
#pragma once

#include "services/queue/ordered_queue.h"
#include "services/queue/rabbitmq_link.h"
#include "services/retry_pauses.h"

#include <trantor/net/EventLoop.h>

#include <deque>
#include <optional>

namespace festa::queue {

// The broker lets one consumer of all processes have the queue. A few entries are fetched ahead,
// the first of them is in hand; it is acknowledged when it is over, or safe in the work queue.
class RabbitMqWaitingConsumer : public RabbitMqRole {
 public:
  RabbitMqWaitingConsumer(RabbitMqSettings settings, EntryHandlers& handlers,
                          trantor::EventLoop* loop, QueueObserver& observer);

  void connected(RabbitMqConnection& connection) override;
  void received(RabbitMqConnection& connection, RabbitMqEvent event) override;
  SteadyTime turn(RabbitMqConnection& connection, SteadyTime now) override;
  void lost() override;
  void stopping(RabbitMqConnection& connection) override;
  bool isIdle() const override { return !running_ && stage_ != Stage::kMoving; }

 private:
  struct Held {
    std::uint64_t tag;
    QueueEntry entry;
  };
  struct Decision {
    std::uint64_t session;
    std::optional<Admission> admission;  // nullopt: it threw
  };
  using Decisions = Mailbox<Decision>;
  enum class Stage {
    kFree,       // the first entry may be begun
    kAdmitting,  // its handler runs
    kMoving,     // it was published to the work queue, the confirm has not come
    kPausing     // it is begun again at due_
  };

  static drogon::AsyncTask admit(EntryHandlers& handlers, QueueEntry entry, std::uint64_t session,
                                 std::shared_ptr<Decisions> decisions);
  void accept(RabbitMqConnection& connection, const RabbitMqDelivery& delivery);
  void begin();
  void decided(RabbitMqConnection& connection, const Decision& decision, SteadyTime now);
  void confirmed(RabbitMqConnection& connection, const RabbitMqConfirm& confirm);
  void retryLater(SteadyTime now);
  void finish(RabbitMqConnection& connection);

  const RabbitMqSettings settings_;
  const RabbitMqNames names_;
  EntryHandlers& handlers_;
  trantor::EventLoop* const loop_;
  QueueObserver& observer_;
  const std::shared_ptr<Decisions> decisions_;

  std::uint64_t session_ = 0;  // counts connections
  bool running_ = false;       // a handler, perhaps for a connection that is gone
  bool stopping_ = false;
  std::deque<Held> held_;  // the first is the one that stage_ speaks of
  Stage stage_ = Stage::kFree;
  SteadyTime began_;                    // with the first
  SteadyTime due_ = SteadyTime::max();  // kMoving: the confirm; kPausing: the next try
  std::uint64_t moved_ = 0;             // kMoving: the number of the message
  RetryPauses backoff_;
};

}  // namespace festa::queue
