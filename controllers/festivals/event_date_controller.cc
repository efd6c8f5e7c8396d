#include "controllers/festivals/event_date_controller.h"

namespace festa {

using drogon::HttpResponsePtr;

const lock::Lockable kEventDates{
    .name = "event-dates",
    .key = "event-date:{token.festivalId}",
};

EventDates::Item EventDateView::parse(FieldReader& fields) {
  return {fields.date("date")};
}

void EventDateView::write(JsonWriter& json, const EventDates::Row& row) {
  json.beginObject().member("eventDateId", row.id).member("date", row.item.date).endObject();
}

void EventDateController::publish(RoutePublisher& routes) const {
  using Self = EventDateController;
  items_.publishList(routes);
  routes.addLocked(*this, Items::createSpec(), kEventDates, {}, Items::parseNew, &Self::create)
      .afterCommit(&Self::forgetList<EventDates::Item>);
  routes.addLocked(*this, Items::changeSpec(), kEventDates, {}, Items::parseChange, &Self::change)
      .afterCommit(&Self::forgetList<Change>);
  items_.publishRemove(routes);
}

drogon::Task<HttpResponsePtr> EventDateController::create(const Call<EventDates::Item>& call,
                                                          WriteGuard& guard) const {
  const auto receipt = receiptFor<EventDates::Row>(call.context, Items::created);
  const auto row =
      co_await service_.create(festivalOf(call.caller()), call.input, guard, receipt.wanted());
  co_return toResponse(Items::created(row));
}

drogon::Task<HttpResponsePtr> EventDateController::change(const Call<Change>& call,
                                                          WriteGuard& guard) const {
  const auto receipt = receiptFor<EventDates::Row>(call.context, Items::changed);
  const auto row = co_await service_.change(festivalOf(call.caller()), call.input.id,
                                            call.input.item, guard, receipt.wanted());
  co_return toResponse(Items::changed(row));
}

}  // namespace festa
