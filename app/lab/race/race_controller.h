// Publishes the races of the lab over HTTP.
#pragma once

#include "app/lab/race/race_desk.h"
#include "app/strategies/strategies.h"
#include "controllers/http/route_publisher.h"
#include "controllers/live/event_stream.h"

namespace festa {

// POST and GET /lab/races, GET /lab/races/{id} and its events. Outlives the routes.
class RaceController {
 public:
  static constexpr std::size_t kMostWatchers = 20;  // all races have so many; beyond: 503

  // Desk and strategies outlive this.
  RaceController(RaceDesk& desk, const Strategies& strategies, std::shared_ptr<StreamBounds> bounds)
      : desk_(desk),
        strategies_(strategies),
        watchers_(std::make_shared<StreamPlaces>(std::move(bounds), kMostWatchers, 0)) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> start(const Call<RaceWish>& call) const;
  drogon::Task<drogon::HttpResponsePtr> list(const Call<NoInput>& call) const;
  drogon::Task<drogon::HttpResponsePtr> show(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> events(const Call<std::int64_t>& call) const;

  void requireUsable(const RaceWish& wish) const;

  RaceDesk& desk_;
  const Strategies& strategies_;
  const std::shared_ptr<StreamPlaces> watchers_;  // streams keep their place
};

// Whether a request comes from a page that this service served on this machine: its client is at
// loopback, and `Origin` is the address at loopback that it was sent to.
bool isFromOwnPage(const drogon::HttpRequest& request);

}  // namespace festa
