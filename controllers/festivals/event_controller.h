// Events over HTTP: read by their date, written by their id.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/events.h"

namespace festa {

struct EventView {
  using Kind = Events;
  static constexpr const char* kPath = "/event-dates/events";
  static constexpr ListKind kList = ListKind::kSchedule;

  static Events::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const Events::Row& row);
  static void writeChanged(JsonWriter& json, const Events::Row& row) { write(json, row); }
};

struct EventQuery {
  std::int64_t festivalId;
  std::int64_t eventDateId;
};

// Outlives the routes it publishes, as what it is made of outlives it.
class EventController {
 public:
  EventController(const EventService& service, RenderedListCache& lists)
      : service_(service), lists_(lists), items_(service, lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  using Items = FestivalItemController<EventView>;

  drogon::Task<RenderedListPtr> render(EventQuery query) const;
  drogon::Task<drogon::HttpResponsePtr> list(const Call<EventQuery>& call) const;

  const EventService& service_;
  RenderedListCache& lists_;
  const Items items_;
};

}  // namespace festa
