// User accounts over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "services/user_service.h"

namespace festa {

class UserController {
 public:
  explicit UserController(std::shared_ptr<UserService> service) : service_(std::move(service)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> login(drogon::HttpRequestPtr request) const;

  const std::shared_ptr<UserService> service_;
};

}  // namespace festa
