// Festivals over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "services/festival_service.h"

namespace festa {

class FestivalController {
 public:
  explicit FestivalController(std::shared_ptr<FestivalService> service)
      : service_(std::move(service)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request) const;

  const std::shared_ptr<FestivalService> service_;
};

}  // namespace festa
