#include "app/queues.h"

#include "app/config/lock_settings.h"
#include "controllers/coupons/coupon_controller.h"
#include "services/queue/local_queue.h"
#include "services/queue/rabbitmq_queue.h"

#include <drogon/HttpAppFramework.h>

#include <algorithm>

namespace festa {

namespace {

constexpr std::chrono::seconds kBrokersMayForget{120};

bool isOnBroker(const StrategyRow& row) {
  return row.needs == Needs::kRabbitMq;
}

// Where there is a broker, and inside the process where requests may use it.
bool isWanted(const StrategyRow& row, const Config& config) {
  if (isOnBroker(row)) return !config.rabbitmq.host.empty();
  return config.lab || configuredLock(config, kCoupons).strategy == row.name;
}

ClaimQueueSettings claimSettings(const Config& config, const StrategyRow& row) {
  ClaimQueueSettings settings;
  settings.queue = row.name;
  if (isOnBroker(row)) settings.republishAgain = kBrokersMayForget;
  settings.workTime = config.queue.work;
  settings.republishAfter = config.queue.sweepEvery;
  return settings;
}

std::shared_ptr<queue::OrderedQueue> makeLocal(const Config& config,
                                               queue::QueueObserver& observer) {
  queue::LocalQueueSettings settings;
  settings.workers = config.queue.workers;
  settings.deliveryLimit = config.queue.deliveryLimit;
  return queue::LocalQueue::create(settings, observer);
}

std::shared_ptr<queue::OrderedQueue> makeRabbitMq(const Config& config,
                                                  queue::QueueObserver& observer) {
  queue::RabbitMqSettings settings;
  settings.host = config.rabbitmq.host;
  settings.port = config.rabbitmq.port;
  settings.user = config.rabbitmq.user;
  settings.password = config.rabbitmq.password;
  settings.vhost = config.rabbitmq.vhost;
  settings.prefix = config.rabbitmq.prefix;
  settings.workers = config.queue.workers;
  settings.deliveryLimit = config.queue.deliveryLimit;
  return std::make_shared<queue::RabbitMqQueue>(settings, observer);
}

void addGauges(Metrics& metrics, const std::string& name, const ClaimQueue& queue) {
  const Metrics::Labels labels{{"queue", name}};
  metrics.addGauges("festa_queue_waiting", "Claims that wait to be decided.", [labels, &queue] {
    const auto waiting = queue.queue().counts().waiting;
    return std::vector<Metrics::Sample>{{labels, static_cast<double>(waiting)}};
  });
  metrics.addGauges("festa_queue_in_work", "Claims that this process works on.", [labels, &queue] {
    const auto inWork = queue.queue().counts().inWork;
    return std::vector<Metrics::Sample>{{labels, static_cast<double>(inWork)}};
  });
}

}  // namespace

Queues::Queues(const Config& config, const Database& database, Metrics& metrics,
               Strategies& strategies)
    : sweepEvery_(config.queue.sweepEvery) {
  for (const auto& row : strategyTable())
    if (row.queues && isWanted(row, config)) add(row, config, database, metrics);
  for (const auto& [name, queue] : queues_) {
    strategies.add(name, *queue);
    addGauges(metrics, name, *queue);
  }
}

void Queues::add(const StrategyRow& row, const Config& config, const Database& database,
                 Metrics& metrics) {
  auto& observer = *observers_.emplace_back(metrics.observeQueue(row.name));
  auto queue = isOnBroker(row) ? makeRabbitMq(config, observer) : makeLocal(config, observer);
  const bool forgets = !isOnBroker(row);
  queues_[row.name] =
      std::make_unique<ClaimQueue>(std::move(queue), database, claimSettings(config, row),
                                   metrics.observeClaims(row.name), forgets);
}

void Queues::start() const {
  for (const auto& [name, queue] : queues_) queue->start(drogon::app().getIOLoop(0), sweepEvery_);
}

void Queues::stop() const {
  for (const auto& [name, queue] : queues_) queue->stop();
}

bool Queues::hasBroker() const {
  return std::ranges::any_of(queues_,
                             [](const auto& one) { return isOnBroker(*findStrategy(one.first)); });
}

bool Queues::brokerIsThere() const {
  return std::ranges::all_of(queues_, [](const auto& one) {
    const auto& [name, queue] = one;
    return !isOnBroker(*findStrategy(name)) || queue->queue().isAvailable();
  });
}

}  // namespace festa
