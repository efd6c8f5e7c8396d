#include "services/queue/rabbitmq_work_consumer.h"

#include "services/queue/entry_text.h"
#include "services/queue/failure_text.h"

#include <trantor/utils/Logger.h>

namespace festa::queue {

namespace {

constexpr Millis kLongestRetryPause{5'000};

}  // namespace

RabbitMqWorkConsumer::RabbitMqWorkConsumer(RabbitMqSettings settings, EntryHandlers& handlers,
                                           trantor::EventLoop* loop, QueueObserver& observer)
    : settings_(std::move(settings)),
      names_(settings_.prefix),
      handlers_(handlers),
      loop_(loop),
      observer_(observer),
      outcomes_(std::make_shared<Outcomes>(wakeUp())) {}

void RabbitMqWorkConsumer::connected(RabbitMqConnection& connection) {
  // As many again in hand, so that a worker that ends need not wait for the broker.
  connection.consume(names_.work, 2 * settings_.workers);
}

void RabbitMqWorkConsumer::received(RabbitMqConnection& connection, RabbitMqEvent event) {
  const auto* const delivery = std::get_if<RabbitMqDelivery>(&event);
  if (delivery == nullptr) return;
  const auto entry = entryOf(delivery->body);
  if (!entry) {
    connection.reject(delivery->tag, false);
    observer_.deadLettered();
    return;
  }
  if (delivery->redelivered) observer_.redelivered();
  jobs_.emplace(
      delivery->tag,
      Job{.entry = *entry, .earlier = delivery->earlier, .pauses = pausesAfter(delivery->earlier)});
}

SteadyTime RabbitMqWorkConsumer::turn(RabbitMqConnection& connection, SteadyTime now) {
  for (const auto& outcome : outcomes_->take()) ended(connection, outcome, now);
  auto due = SteadyTime::max();
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const bool isGone = advance(connection, job->first, job->second, now);
    if (!isGone) due = std::min(due, job->second.due);
    job = isGone ? jobs_.erase(job) : std::next(job);
  }
  return due;
}

bool RabbitMqWorkConsumer::advance(RabbitMqConnection& connection, std::uint64_t tag, Job& job,
                                   SteadyTime now) {
  if (job.stage == Stage::kGoingBack && now >= job.due) {
    connection.reject(tag, true);
    return true;
  }
  if (stopping_) return false;
  // Handlers of an earlier connection still count.
  if (job.stage == Stage::kHeld && running_ < settings_.workers)
    run(tag, job, Stage::kWorking, now);
  if (job.stage == Stage::kNotGivenUp && now >= job.due) run(tag, job, Stage::kGivingUp, now);
  return false;
}

void RabbitMqWorkConsumer::run(std::uint64_t tag, Job& job, Stage stage, SteadyTime now) {
  job.stage = stage;
  job.begun = now;
  job.due = SteadyTime::max();
  ++running_;
  loop_->queueInLoop([&handlers = handlers_, stage, entry = job.entry,
                      outcome = Outcome{session_, tag, false},
                      outcomes = outcomes_] { handle(handlers, stage, entry, outcome, outcomes); });
}

drogon::AsyncTask RabbitMqWorkConsumer::handle(EntryHandlers& handlers, Stage stage,
                                               QueueEntry entry, Outcome outcome,
                                               std::shared_ptr<Outcomes> outcomes) {
  try {
    if (stage == Stage::kWorking)
      co_await handlers.work(entry);
    else
      co_await handlers.giveUp(entry);
  } catch (...) {
    LOG_WARN << "work on entry " << entry << " failed: " << failureText();
    outcome.failed = true;
  }
  outcomes->post(outcome);
}

void RabbitMqWorkConsumer::ended(RabbitMqConnection& connection, const Outcome& outcome,
                                 SteadyTime now) {
  --running_;
  if (outcome.session != session_) return;
  auto& job = jobs_.at(outcome.tag);
  if (outcome.failed) return failed(outcome.tag, job, now);
  if (job.stage == Stage::kWorking) {
    connection.ack(outcome.tag);
    observer_.worked(now - job.begun);
  } else {
    connection.reject(outcome.tag, false);
    observer_.deadLettered();
  }
  jobs_.erase(outcome.tag);
}

void RabbitMqWorkConsumer::failed(std::uint64_t tag, Job& job, SteadyTime now) {
  const bool isLastTry = job.earlier + 1 >= settings_.deliveryLimit;
  if (job.stage == Stage::kWorking && isLastTry) return run(tag, job, Stage::kGivingUp, now);
  job.stage = job.stage == Stage::kWorking ? Stage::kGoingBack : Stage::kNotGivenUp;
  job.due = now + job.pauses.next();
}

RetryPauses RabbitMqWorkConsumer::pausesAfter(std::int64_t earlier) const {
  RetryPauses pauses(settings_.firstRetryPause, kLongestRetryPause);
  for (std::int64_t i = 0; i < earlier && i < settings_.deliveryLimit; ++i) pauses.skip();
  return pauses;
}

void RabbitMqWorkConsumer::lost() {
  ++session_;
  jobs_.clear();
}

void RabbitMqWorkConsumer::stopping(RabbitMqConnection& connection) {
  stopping_ = true;
  connection.cancel();
}

}  // namespace festa::queue
