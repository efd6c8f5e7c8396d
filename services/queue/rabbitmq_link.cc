#include "services/queue/rabbitmq_link.h"

#include "services/retry_pauses.h"

#include <poll.h>
#include <trantor/utils/Logger.h>

namespace festa::queue {

namespace {

constexpr Millis kFirstReconnectPause{100};
constexpr Millis kLongestReconnectPause{2'000};

}  // namespace

RabbitMqLink::RabbitMqLink(std::string name, RabbitMqSettings settings, RabbitMqRole& role)
    : name_(std::move(name)),
      settings_(std::move(settings)),
      role_(role),
      thread_([this] { run(); }) {}

RabbitMqLink::~RabbitMqLink() {
  beginStop();
  join();
}

void RabbitMqLink::beginStop() {
  stopping_ = true;
  role_.wakeUp()->signal();
}

void RabbitMqLink::join() {
  if (thread_.joinable()) thread_.join();
}

void RabbitMqLink::run() {
  RetryPauses backoff(kFirstReconnectPause, kLongestReconnectPause);
  std::string known;  // each reason is told once per outage
  while (!stopping_) {
    try {
      RabbitMqConnection connection(settings_);
      role_.connected(connection);
      LOG_INFO << "RabbitMQ " << name_ << ": connected";
      backoff = RetryPauses(kFirstReconnectPause, kLongestReconnectPause);
      known.clear();
      serve(connection);
    } catch (const RabbitMqFailure& failure) {
      if (known != failure.what()) LOG_WARN << "RabbitMQ " << name_ << ": " << failure.what();
      known = failure.what();
    }
    role_.lost();
    if (!stopping_) pause(SteadyClock::now() + backoff.next());
  }
}

void RabbitMqLink::serve(RabbitMqConnection& connection) {
  const auto beat = Millis(settings_.heartbeat) / 2;
  auto end = SteadyTime::max();
  while (true) {
    role_.wakeUp()->clear();
    const bool isStopping = stopping_;
    if (isStopping && end == SteadyTime::max()) {
      end = SteadyClock::now() + settings_.stopPatience;
      role_.stopping(connection);
    }
    // The time first, then all that has arrived by then: however long this thread stands still, a
    // confirm that waits in the socket is read before its message is found late.
    const auto now = SteadyClock::now();
    while (auto event = connection.next()) role_.received(connection, std::move(*event));
    const auto due = role_.turn(connection, now);
    if (isStopping && (role_.isIdle() || now >= end)) return connection.close();
    connection.wait(*role_.wakeUp(), std::min({due, end, now + beat}));
  }
}

void RabbitMqLink::pause(SteadyTime until) const {
  while (!stopping_ && SteadyClock::now() < until) {
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    pollfd source{role_.wakeUp()->fd(), POLLIN, 0};
    poll(&source, 1, static_cast<int>(left.count()));
    role_.wakeUp()->clear();
  }
}

}  // namespace festa::queue
