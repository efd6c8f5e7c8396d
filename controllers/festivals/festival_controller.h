// Festivals over HTTP.
#pragma once

#include "controllers/http/route_publisher.h"
#include "services/festivals/festival_service.h"

namespace festa {

class FestivalController {
 public:
  explicit FestivalController(const FestivalService& service) : service_(service) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(const Call<NewFestival>& call) const;
  drogon::Task<drogon::HttpResponsePtr> show(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> setInformation(const Call<FestivalInformation>& call) const;
  drogon::Task<drogon::HttpResponsePtr> showGuide(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> setGuide(const Call<std::string>& call) const;
  drogon::Task<drogon::HttpResponsePtr> listUniversities(const Call<std::string>& call) const;

  const FestivalService& service_;
};

}  // namespace festa
