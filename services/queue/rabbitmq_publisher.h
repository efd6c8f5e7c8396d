// Puts entries into the waiting queue and knows whether the broker is there.
#pragma once

#include "services/queue/ordered_queue.h"
#include "services/queue/pending_confirms.h"
#include "services/queue/rabbitmq_link.h"

#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <deque>
#include <mutex>

namespace festa::queue {

// One publish that a coroutine awaits. Finished exactly once, by the link; the coroutine resumes on
// its own loop, where it also suspended, so that the end cannot overtake the suspension.
class RabbitMqPublish : public std::enable_shared_from_this<RabbitMqPublish> {
 public:
  // On the loop of the coroutine.
  RabbitMqPublish(QueueEntry entry, SteadyTime deadline)
      : entry_(entry),
        deadline_(deadline),
        loop_(trantor::EventLoop::getEventLoopOfCurrentThread()) {}

  QueueEntry entry() const { return entry_; }
  SteadyTime deadline() const { return deadline_; }

  void finish(const char* failure = nullptr) {
    failure_ = failure;
    loop_->queueInLoop([self = shared_from_this()] { self->handle_.resume(); });
  }

  // What the coroutine awaits.
  class Confirmed {
   public:
    explicit Confirmed(std::shared_ptr<RabbitMqPublish> publish) : publish_(std::move(publish)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept {
      publish_->handle_ = handle;
    }
    void await_resume() const {
      if (publish_->failure_ != nullptr) throw QueueUnavailable(publish_->failure_);
    }

   private:
    const std::shared_ptr<RabbitMqPublish> publish_;
  };

 private:
  const QueueEntry entry_;
  const SteadyTime deadline_;
  trantor::EventLoop* const loop_;
  std::coroutine_handle<> handle_;
  const char* failure_ = nullptr;
};

// publish(), isAvailable() and waiting() on any thread. A publish that is not confirmed in time
// ends the connection and fails every other waiting publish: one time-out is enough to find a
// broker that does not answer.
class RabbitMqPublisher : public RabbitMqRole {
 public:
  explicit RabbitMqPublisher(RabbitMqSettings settings);

  // Must not be outlived by its tasks.
  drogon::Task<> publish(QueueEntry entry);
  bool isAvailable() const;
  // As the broker said last.
  std::int64_t waiting() const { return waiting_; }

  void connected(RabbitMqConnection& connection) override;
  void received(RabbitMqConnection& connection, RabbitMqEvent event) override;
  SteadyTime turn(RabbitMqConnection& connection, SteadyTime now) override;
  void lost() override;
  void stopping(RabbitMqConnection& connection) override;
  bool isIdle() const override { return unconfirmed_.isEmpty(); }

 private:
  using Publish = std::shared_ptr<RabbitMqPublish>;

  std::deque<Publish> takeInbox();
  void setAvailable(bool available);

  const RabbitMqSettings settings_;
  const RabbitMqNames names_;
  std::atomic<std::int64_t> waiting_{0};
  mutable std::mutex mutex_;
  bool available_ = false;     // guarded by mutex_
  std::deque<Publish> inbox_;  // guarded by mutex_; empty while not available

  // The link's.
  std::deque<Publish> unsent_;
  PendingConfirms<Publish> unconfirmed_;
  SteadyTime nextCount_;
};

}  // namespace festa::queue
