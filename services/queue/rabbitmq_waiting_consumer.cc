#include "services/queue/rabbitmq_waiting_consumer.h"

#include "services/queue/entry_text.h"
#include "services/queue/failure_text.h"

#include <trantor/utils/Logger.h>

namespace festa::queue {

namespace {

constexpr int kPrefetch = 8;
constexpr lock::Backoff kRetry(Millis{10}, Millis{1'000});

}  // namespace

RabbitMqWaitingConsumer::RabbitMqWaitingConsumer(RabbitMqSettings settings, EntryHandlers& handlers,
                                                 trantor::EventLoop* loop, QueueObserver& observer)
    : settings_(std::move(settings)),
      names_(settings_.prefix),
      handlers_(handlers),
      loop_(loop),
      observer_(observer),
      decisions_(std::make_shared<Decisions>(wakeUp())),
      backoff_(kRetry) {}

void RabbitMqWaitingConsumer::connected(RabbitMqConnection& connection) {
  connection.consume(names_.waiting, kPrefetch);
}

void RabbitMqWaitingConsumer::received(RabbitMqConnection& connection, RabbitMqEvent event) {
  if (const auto* delivery = std::get_if<RabbitMqDelivery>(&event)) accept(connection, *delivery);
  if (const auto* confirm = std::get_if<RabbitMqConfirm>(&event)) confirmed(connection, *confirm);
}

void RabbitMqWaitingConsumer::accept(RabbitMqConnection& connection,
                                     const RabbitMqDelivery& delivery) {
  const auto entry = entryOf(delivery.body);
  if (!entry) {
    connection.reject(delivery.tag, false);
    observer_.deadLettered();
    return;
  }
  if (delivery.redelivered) observer_.redelivered();
  held_.push_back({delivery.tag, *entry});
}

SteadyTime RabbitMqWaitingConsumer::turn(RabbitMqConnection& connection, SteadyTime now) {
  for (const auto& decision : decisions_->take()) decided(connection, decision, now);
  if (stage_ == Stage::kMoving && now >= due_)
    throw RabbitMqFailure("a message was not confirmed in time");
  if (stage_ == Stage::kPausing && now >= due_) stage_ = Stage::kFree;
  if (stage_ == Stage::kFree && !held_.empty() && !running_ && !stopping_) begin();
  return stage_ == Stage::kMoving || stage_ == Stage::kPausing ? due_ : SteadyTime::max();
}

void RabbitMqWaitingConsumer::begin() {
  stage_ = Stage::kAdmitting;
  running_ = true;
  began_ = SteadyClock::now();
  loop_->queueInLoop([&handlers = handlers_, entry = held_.front().entry, session = session_,
                      decisions = decisions_] { admit(handlers, entry, session, decisions); });
}

drogon::AsyncTask RabbitMqWaitingConsumer::admit(EntryHandlers& handlers, QueueEntry entry,
                                                 std::uint64_t session,
                                                 std::shared_ptr<Decisions> decisions) {
  Decision decision{session, {}};
  try {
    const auto admission = co_await handlers.admit(entry);
    decision.admission = admission;
  } catch (...) {
    LOG_WARN << "entry " << entry << " was not decided: " << failureText();
  }
  decisions->post(decision);
}

void RabbitMqWaitingConsumer::decided(RabbitMqConnection& connection, const Decision& decision,
                                      SteadyTime now) {
  running_ = false;
  if (decision.session != session_) return;
  if (!decision.admission) {
    retryLater(now);
  } else if (*decision.admission == Admission::kOver) {
    finish(connection);
  } else {
    connection.publish(names_.work, textOf(held_.front().entry));
    stage_ = Stage::kMoving;
    moved_ = connection.published();
    due_ = now + settings_.publishTimeout;
  }
}

void RabbitMqWaitingConsumer::confirmed(RabbitMqConnection& connection,
                                        const RabbitMqConfirm& confirm) {
  const bool isOurs = confirm.multiple ? confirm.tag >= moved_ : confirm.tag == moved_;
  if (stage_ != Stage::kMoving || !isOurs) return;
  if (!confirm.accepted) return retryLater(SteadyClock::now());
  finish(connection);
  observer_.admitted(SteadyClock::now() - began_);
}

void RabbitMqWaitingConsumer::retryLater(SteadyTime now) {
  stage_ = Stage::kPausing;
  due_ = now + backoff_.next(lock::randomBits());
}

void RabbitMqWaitingConsumer::finish(RabbitMqConnection& connection) {
  connection.ack(held_.front().tag);
  held_.pop_front();
  stage_ = Stage::kFree;
  backoff_ = kRetry;
}

void RabbitMqWaitingConsumer::lost() {
  ++session_;
  held_.clear();
  stage_ = Stage::kFree;
  backoff_ = kRetry;
}

void RabbitMqWaitingConsumer::stopping(RabbitMqConnection& /*connection*/) {
  // Not cancelled: the next process would get what comes after the entries that are still here.
  stopping_ = true;
}

}  // namespace festa::queue
