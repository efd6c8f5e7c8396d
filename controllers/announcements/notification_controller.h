// Notifications of announcements over HTTP: councils send them, pages listen.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/live/event_stream.h"
#include "controllers/live/notification_feed.h"

namespace festa {

class NotificationController {
 public:
  NotificationController(const NotificationService& service, NotificationFeed& feed,
                         StreamPlaces& places)
      : service_(service), feed_(feed), places_(places) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> notify(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> listen(const Call<ListenerQuery>& call) const;

  const NotificationService& service_;
  NotificationFeed& feed_;
  StreamPlaces& places_;
};

}  // namespace festa
