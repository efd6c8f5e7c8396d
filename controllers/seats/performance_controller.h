// Performances and their seats over HTTP.
#pragma once

#include "controllers/cache/rendered_list_cache.h"
#include "controllers/http/route_publisher.h"
#include "services/seats/performance_service.h"

namespace festa {

struct SeatQuery {
  std::int64_t performanceId;
  std::string location;  // empty: all
};

class PerformanceController {
 public:
  PerformanceController(const PerformanceService& service, RenderedListCache& lists)
      : service_(service), lists_(lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(const Call<NewPerformance>& call) const;
  drogon::Task<drogon::HttpResponsePtr> list(const Call<PageRequest>& call) const;
  drogon::Task<drogon::HttpResponsePtr> show(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> seats(const Call<SeatQuery>& call) const;
  void forgetList(const Call<NewPerformance>& call) const;
  drogon::Task<RenderedListPtr> renderPage(PageRequest asked) const;
  drogon::Task<RenderedListPtr> renderOne(std::int64_t id) const;
  drogon::Task<RenderedListPtr> renderSeats(std::int64_t id, std::string location) const;

  const PerformanceService& service_;
  RenderedListCache& lists_;
};

}  // namespace festa
