// Users over HTTP: registration and login.
#pragma once

#include "controllers/http/route_publisher.h"
#include "services/accounts/user_service.h"

namespace festa {

class UserController {
 public:
  explicit UserController(const UserService& service) : service_(service) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(const Call<NewUser>& call) const;
  drogon::Task<drogon::HttpResponsePtr> login(const Call<Credentials>& call) const;

  const UserService& service_;
};

}  // namespace festa
