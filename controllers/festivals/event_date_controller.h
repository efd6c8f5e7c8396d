// The dates of a festival over HTTP.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/event_dates.h"

namespace festa {

// Creates and changes of one festival exclude each other: both could make a date twice.
extern const lock::Lockable kEventDates;

struct EventDateView {
  using Kind = EventDates;
  static constexpr const char* kPath = "/event-dates";
  static constexpr ListKind kList = ListKind::kSchedule;
  static constexpr bool kLocksCreate = true;
  static constexpr bool kLocksChange = true;

  static EventDates::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const EventDates::Row& row);
  static void writeChanged(JsonWriter& json, const EventDates::Row& row) { write(json, row); }
};

// Outlives the routes it publishes, as what it is made of outlives it.
class EventDateController {
 public:
  EventDateController(const EventDateService& service, RenderedListCache& lists)
      : service_(service), items_(service, lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  using Items = FestivalItemController<EventDateView>;
  using Change = ItemChange<EventDates::Item>;

  drogon::Task<drogon::HttpResponsePtr> create(const Call<EventDates::Item>& call,
                                               WriteGuard& guard) const;
  drogon::Task<drogon::HttpResponsePtr> change(const Call<Change>& call, WriteGuard& guard) const;

  template <class Input>
  void forgetList(const Call<Input>& call) const {
    items_.forgetList(call);
  }

  const EventDateService& service_;
  const Items items_;
};

}  // namespace festa
