// Live seats over HTTP.
#pragma once

#include "controllers/cache/rendered_list_cache.h"
#include "controllers/http/route_publisher.h"
#include "controllers/live/event_stream.h"
#include "controllers/live/notification_feed.h"
#include "controllers/live/seat_feed.h"
#include "controllers/seats/performance_json.h"

namespace festa {

struct WatchQuery {
  std::int64_t performanceId;
  std::optional<ListenerQuery> listener;  // set: the stream also tells these notifications
};

// GET /performances/{id}/seats/events.
class SeatEventsController {
 public:
  struct Parts {
    const PerformanceService& performances;
    PerformanceJsonCache& performanceJson;
    RenderedListCache& lists;
    SeatFeed& feed;
    StreamPlaces& places;
    const NotificationService& notifications;
    NotificationFeed& notificationFeed;
  };

  explicit SeatEventsController(Parts parts) : parts_(parts) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> watch(const Call<WatchQuery>& call) const;
  drogon::Task<RenderedListPtr> renderOnce(std::int64_t id) const;

  void begin(const WatchQuery& query, std::unique_ptr<EventSink> sink) const;

  const Parts parts_;
};

}  // namespace festa
