// Performances and their seats over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "controllers/rendered_list_cache.h"
#include "services/performance_service.h"

namespace festa {

class PerformanceController {
 public:
  // `lists` must outlive the controller.
  PerformanceController(std::shared_ptr<PerformanceService> service, RenderedListCache& lists)
      : service_(std::move(service)), lists_(lists) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> list(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> seats(drogon::HttpRequestPtr request) const;
  drogon::Task<RenderedListPtr> renderSeats(std::int64_t id, std::string location) const;

  const std::shared_ptr<PerformanceService> service_;
  RenderedListCache& lists_;
};

}  // namespace festa
