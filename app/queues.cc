#include "app/queues.h"

#include "app/lock_settings.h"
#include "controllers/coupon_controller.h"
#include "services/queue/local_queue.h"
#include "services/queue/rabbitmq_queue.h"

#include <drogon/HttpAppFramework.h>

namespace festa {

namespace {

const std::string kLocal = "queue-local";
const std::string kRabbitMq = "queue-rabbitmq";
constexpr std::chrono::seconds kBrokersMayForget{120};

ClaimQueueSettings claimSettings(const Config& config, const std::string& queue) {
  ClaimQueueSettings settings;
  settings.queue = queue;
  if (queue == kRabbitMq) settings.republishAgain = kBrokersMayForget;
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
  const bool usesLocal = config.lab || configuredLock(config, kCoupons).strategy == kLocal;
  if (usesLocal)
    add(kLocal, makeLocal(config, observe(metrics, kLocal)), config, database, metrics);
  if (!config.rabbitmq.host.empty())
    add(kRabbitMq, makeRabbitMq(config, observe(metrics, kRabbitMq)), config, database, metrics);
  for (const auto& [name, queue] : queues_) {
    strategies.add(name, *queue);
    addGauges(metrics, name, *queue);
  }
}

queue::QueueObserver& Queues::observe(Metrics& metrics, const std::string& name) {
  return *observers_.emplace_back(metrics.observeQueue(name));
}

void Queues::add(const std::string& name, std::shared_ptr<queue::OrderedQueue> queue,
                 const Config& config, const Database& database, Metrics& metrics) {
  const bool forgets = name == kLocal;
  queues_[name] =
      std::make_unique<ClaimQueue>(std::move(queue), database, claimSettings(config, name),
                                   metrics.observeClaims(name), forgets);
}

void Queues::start() const {
  for (const auto& [name, queue] : queues_) queue->start(drogon::app().getIOLoop(0), sweepEvery_);
}

void Queues::stop() const {
  for (const auto& [name, queue] : queues_) queue->stop();
}

bool Queues::brokerIsThere() const {
  const auto found = queues_.find(kRabbitMq);
  return found == queues_.end() || found->second->queue().isAvailable();
}

}  // namespace festa
