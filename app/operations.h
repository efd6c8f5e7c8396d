// Endpoints for operators: health, readiness, metrics.
#pragma once

#include "app/database_clients.h"
#include "app/locks.h"
#include "app/metrics_page.h"
#include "app/queues.h"
#include "controllers/drain.h"
#include "controllers/routes.h"

namespace festa {

class Operations {
 public:
  // All of them outlive this.
  Operations(const DatabaseClients& database, const Locks& locks, const Queues& queues,
             MetricsPage& metrics, const Drain& drain)
      : database_(database), locks_(locks), queues_(queues), metrics_(metrics), drain_(drain) {}

  // Must outlive the routes.
  void publish(Routes& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> health(const Call<NoInput>& call) const;
  drogon::Task<drogon::HttpResponsePtr> readiness(const Call<NoInput>& call) const;
  drogon::Task<drogon::HttpResponsePtr> metrics(const Call<NoInput>& call) const;
  drogon::Task<bool> databaseAnswers() const;
  drogon::Task<bool> redisAnswers() const;
  drogon::Task<bool> redlockAnswers() const;

  const DatabaseClients& database_;
  const Locks& locks_;
  const Queues& queues_;
  MetricsPage& metrics_;
  const Drain& drain_;
};

}  // namespace festa
