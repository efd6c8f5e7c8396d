// Answers operators: health, readiness, metrics.
#pragma once

#include "app/operations/health.h"
#include "app/operations/metrics_page.h"
#include "controllers/http/drain.h"
#include "controllers/http/route_publisher.h"

namespace festa {

class OperationsController {
 public:
  // All of them outlive this.
  OperationsController(const Health& health, MetricsPage& metrics, const Drain& drain)
      : health_(health), metrics_(metrics), drain_(drain) {}

  // Must outlive the routes.
  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> live(const Call<NoInput>& call) const;
  drogon::Task<drogon::HttpResponsePtr> readiness(const Call<NoInput>& call) const;
  drogon::Task<drogon::HttpResponsePtr> metrics(const Call<NoInput>& call) const;

  const Health& health_;
  MetricsPage& metrics_;
  const Drain& drain_;
};

}  // namespace festa
