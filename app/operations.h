// Endpoints for operators: health, readiness, metrics.
#pragma once

#include "app/drain.h"
#include "app/metrics_page.h"
#include "controllers/endpoints.h"
#include "lock/redis/redlock_lock_storage.h"

#include <drogon/orm/DbClient.h>

#include <functional>
#include <memory>

namespace festa {

class Operations {
 public:
  using DbClientSource = std::function<drogon::orm::DbClientPtr()>;

  // `database` gives the calling loop's client of its own for readiness, behind which no other work
  // queues. `redis` and `redlock` may be null: none is configured. `metrics` must outlive this.
  Operations(DbClientSource database, std::shared_ptr<lock::RedisCommands> redis,
             std::shared_ptr<lock::RedlockLockStorage> redlock, std::function<bool()> brokerIsThere,
             MetricsPage& metrics, std::shared_ptr<Drain> drain)
      : database_(std::move(database)),
        redis_(std::move(redis)),
        redlock_(std::move(redlock)),
        brokerIsThere_(std::move(brokerIsThere)),
        metrics_(metrics),
        drain_(std::move(drain)) {}

  // Must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> health(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> readiness(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> metrics(drogon::HttpRequestPtr request) const;
  drogon::Task<bool> databaseAnswers() const;
  drogon::Task<bool> redisAnswers() const;
  drogon::Task<bool> redlockAnswers() const;

  const DbClientSource database_;
  const std::shared_ptr<lock::RedisCommands> redis_;
  const std::shared_ptr<lock::RedlockLockStorage> redlock_;
  const std::function<bool()> brokerIsThere_;
  MetricsPage& metrics_;
  const std::shared_ptr<Drain> drain_;
};

}  // namespace festa
