#include "services/queue/rabbitmq_publisher.h"

#include "services/queue/entry_text.h"

namespace festa::queue {

RabbitMqPublisher::RabbitMqPublisher(RabbitMqSettings settings)
    : settings_(std::move(settings)), names_(settings_.prefix) {}

drogon::Task<> RabbitMqPublisher::publish(QueueEntry entry) {
  const auto publish =
      std::make_shared<RabbitMqPublish>(entry, SteadyClock::now() + settings_.publishTimeout);
  {
    const std::lock_guard guard(mutex_);
    if (!available_) throw QueueUnavailable("RabbitMQ is away");
    inbox_.push_back(publish);
  }
  wakeUp()->signal();
  const RabbitMqPublish::Confirmed confirmed(publish);
  co_await confirmed;
}

bool RabbitMqPublisher::isAvailable() const {
  const std::lock_guard guard(mutex_);
  return available_;
}

void RabbitMqPublisher::setAvailable(bool available) {
  const std::lock_guard guard(mutex_);
  available_ = available;
}

std::deque<RabbitMqPublisher::Publish> RabbitMqPublisher::takeInbox() {
  const std::lock_guard guard(mutex_);
  return std::exchange(inbox_, {});
}

void RabbitMqPublisher::connected(RabbitMqConnection& /*connection*/) {
  nextCount_ = SteadyClock::now();
  setAvailable(true);
}

SteadyTime RabbitMqPublisher::turn(RabbitMqConnection& connection, SteadyTime now) {
  unsent_ = takeInbox();
  while (!unsent_.empty()) {
    const auto publish = unsent_.front();
    unsent_.pop_front();
    // Noted first: what fails half sent waits for its end like the others.
    unconfirmed_.add(connection.published() + 1, publish, publish->deadline());
    connection.publish(names_.waiting, textOf(publish->entry()));
  }
  if (now >= nextCount_) {
    connection.askLength(names_.waiting);
    nextCount_ = now + settings_.countEvery;
  }
  const auto deadline = unconfirmed_.deadline();
  if (deadline && now >= *deadline) throw RabbitMqFailure("a message was not confirmed in time");
  return std::min(nextCount_, deadline.value_or(nextCount_));
}

void RabbitMqPublisher::received(RabbitMqConnection& /*connection*/, RabbitMqEvent event) {
  if (const auto* length = std::get_if<RabbitMqLength>(&event)) waiting_ = length->messages;
  if (const auto* confirm = std::get_if<RabbitMqConfirm>(&event)) {
    for (const auto& publish : unconfirmed_.settle(confirm->tag, confirm->multiple))
      publish->finish(confirm->accepted ? nullptr : "RabbitMQ refused the message");
  }
}

void RabbitMqPublisher::lost() {
  setAvailable(false);
  for (const auto& publish : unconfirmed_.takeAll()) publish->finish("RabbitMQ did not confirm");
  for (const auto& publish : std::exchange(unsent_, {})) publish->finish("RabbitMQ was lost");
  for (const auto& publish : takeInbox()) publish->finish("RabbitMQ was lost");
}

void RabbitMqPublisher::stopping(RabbitMqConnection& /*connection*/) {
  setAvailable(false);
}

}  // namespace festa::queue
