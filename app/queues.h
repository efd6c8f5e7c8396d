// The queues in which coupon claims can wait, as configured.
#pragma once

#include "app/config/config.h"
#include "app/operations/metrics.h"
#include "app/strategies/strategies.h"
#include "services/coupons/claim_queue.h"
#include "services/write/database.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace festa {

// Immutable after construction, thread-safe.
class Queues {
 public:
  // Adds itself to the strategies: the queue inside the process in the lab or where coupons are
  // configured to use it, the one on RabbitMQ where there is a broker.
  Queues(const Config& config, const Database& database, Metrics& metrics, Strategies& strategies);

  // When the loops run.
  void start() const;
  // Blocks for a moment; not on an event loop.
  void stop() const;

  bool hasBroker() const;
  // True without a broker as well: what is not configured is not missed.
  bool brokerIsThere() const;

 private:
  void add(const StrategyRow& row, const Config& config, const Database& database,
           Metrics& metrics);

  std::vector<std::unique_ptr<queue::QueueObserver>> observers_;
  std::map<std::string, std::unique_ptr<ClaimQueue>> queues_;
  const std::chrono::seconds sweepEvery_;
};

}  // namespace festa
