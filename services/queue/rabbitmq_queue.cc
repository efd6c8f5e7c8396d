#include "services/queue/rabbitmq_queue.h"

namespace festa::queue {

RabbitMqQueue::RabbitMqQueue(RabbitMqSettings settings, QueueObserver& observer)
    : settings_(std::move(settings)), observer_(observer), publisher_(settings_) {}

RabbitMqQueue::~RabbitMqQueue() {
  stop();
}

void RabbitMqQueue::start(EntryHandlers& handlers, trantor::EventLoop* loop) {
  waiting_ = std::make_unique<RabbitMqWaitingConsumer>(settings_, handlers, loop, observer_);
  {
    const std::lock_guard guard(mutex_);
    work_ = std::make_unique<RabbitMqWorkConsumer>(settings_, handlers, loop, observer_);
  }
  links_.push_back(std::make_unique<RabbitMqLink>("publisher", settings_, publisher_));
  links_.push_back(std::make_unique<RabbitMqLink>("waiting queue", settings_, *waiting_));
  links_.push_back(std::make_unique<RabbitMqLink>("work queue", settings_, *work_));
}

QueueCounts RabbitMqQueue::counts() const {
  const std::lock_guard guard(mutex_);
  return {.waiting = publisher_.waiting(), .inWork = work_ ? work_->inWork() : 0};
}

void RabbitMqQueue::stop() {
  // The publisher last: once it is not available, no consumer begins anything.
  for (auto link = links_.rbegin(); link != links_.rend(); ++link) (*link)->beginStop();
  for (const auto& link : links_) link->join();
}

}  // namespace festa::queue
