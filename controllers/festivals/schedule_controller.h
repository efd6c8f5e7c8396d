// The schedule of a festival over HTTP: its dates, and the events of each. Events are read by their
// date and written by their id.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/event_dates.h"
#include "services/festivals/events.h"

namespace festa {

// Creates and changes of one festival exclude each other: both could make a date twice.
extern const lock::Lockable kEventDates;

struct EventDateView {
  using Service = EventDateService;
  static constexpr const char* kPath = "/event-dates";
  static constexpr ListKind kList = ListKind::kSchedule;
  static constexpr const lock::Lockable* kCreateLock = &kEventDates;
  static constexpr const lock::Lockable* kChangeLock = &kEventDates;

  static EventDates::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const EventDates::Row& row);
  static void writeChanged(JsonWriter& json, const EventDates::Row& row) { write(json, row); }
};

using EventDateController = FestivalItemController<EventDateView>;

struct EventView {
  using Service = EventService;
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
