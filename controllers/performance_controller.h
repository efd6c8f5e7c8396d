// Performances and their seats over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "controllers/seat_list_cache.h"
#include "services/performance_service.h"

namespace festa {

class PerformanceController {
 public:
  explicit PerformanceController(std::shared_ptr<PerformanceService> service)
      : service_(std::move(service)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints);

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> list(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> seats(drogon::HttpRequestPtr request);
  drogon::Task<SeatListPtr> renderSeats(std::int64_t id, std::string location) const;

  const std::shared_ptr<PerformanceService> service_;
  SeatListCache seatLists_{SeatListCache::Settings()};
};

}  // namespace festa
