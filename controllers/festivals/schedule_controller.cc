#include "controllers/festivals/schedule_controller.h"

namespace festa {

using drogon::HttpResponsePtr;

const lock::Lockable kEventDates{
    .name = "event-dates",
    .key = "event-date:{token.festivalId}",
};

namespace {

EventQuery parseQuery(const Asked& asked) {
  return {festivalIdIn(asked), asked.pathId("eventDateId")};
}

}  // namespace

EventDates::Item EventDateView::parse(FieldReader& fields) {
  return {fields.date("date")};
}

void EventDateView::write(JsonWriter& json, const EventDates::Row& row) {
  json.beginObject().member("eventDateId", row.id).member("date", row.item.date).endObject();
}

Events::Item EventView::parse(FieldReader& fields) {
  return {fields.id("eventDateId"), fields.clockTime("startTime"), fields.clockTime("endTime"),
          fields.text("title", 255), fields.text("location", 100)};
}

void EventView::write(JsonWriter& json, const Events::Row& row) {
  json.beginObject()
      .member("eventId", row.id)
      .member("status", row.status)
      .member("startTime", row.startTime)
      .member("endTime", row.endTime)
      .member("title", row.title)
      .member("location", row.location)
      .endObject();
}

void EventController::publish(RoutePublisher& routes) const {
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/event-dates/{eventDateId}/events",
              .access = kAnyone,
              .paged = Paged::kWhole},
             parseQuery, &EventController::list);
  items_.publishCreate(routes);
  items_.publishChange(routes);
  items_.publishRemove(routes);
}

drogon::Task<RenderedListPtr> EventController::render(EventQuery query) const {
  const auto rows = co_await service_.listOf(query.festivalId, query.eventDateId);
  co_return Items::rendered(rows);
}

drogon::Task<HttpResponsePtr> EventController::list(const Call<EventQuery>& call) const {
  const auto query = call.input;
  const RenderedListCache::Key key{{EventView::kList, query.festivalId},
                                   std::to_string(query.eventDateId)};
  const auto renderThis = [this, query] { return render(query); };
  const auto found = co_await lists_.get(key, renderThis);
  co_return festivalList(call.request, *found);
}

}  // namespace festa
