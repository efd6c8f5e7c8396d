// Council accounts over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "services/council_service.h"

namespace festa {

class CouncilController {
 public:
  explicit CouncilController(std::shared_ptr<CouncilService> service)
      : service_(std::move(service)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> login(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> changePassword(drogon::HttpRequestPtr request) const;

  const std::shared_ptr<CouncilService> service_;
};

}  // namespace festa
