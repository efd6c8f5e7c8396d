// Councils over HTTP: their accounts and logins.
#pragma once

#include "controllers/http/route_publisher.h"
#include "services/accounts/council_service.h"

namespace festa {

struct PasswordChange {
  std::string current;
  std::string replacement;
};

class CouncilController {
 public:
  explicit CouncilController(const CouncilService& service) : service_(service) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> login(const Call<Credentials>& call) const;
  drogon::Task<drogon::HttpResponsePtr> create(const Call<NewCouncil>& call) const;
  drogon::Task<drogon::HttpResponsePtr> changePassword(const Call<PasswordChange>& call) const;

  const CouncilService& service_;
};

}  // namespace festa
