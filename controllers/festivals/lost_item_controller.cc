#include "controllers/festivals/lost_item_controller.h"

namespace festa {

namespace {

PickupChange parseStatus(const Asked& asked) {
  const auto id = itemIdIn(asked);
  FieldReader fields(asked.body());
  PickupChange change{id, fields.choice("pickupStatus", {"PENDING", "COMPLETED"})};
  fields.done();
  return change;
}

}  // namespace

LostItems::Item LostItemView::parse(FieldReader& fields) {
  return {fields.url("imageUrl"), fields.text("storageLocation", 20)};
}

void LostItemView::write(JsonWriter& json, const LostItems::Row& row) {
  json.beginObject()
      .member("lostItemId", row.id)
      .member("imageUrl", row.item.imageUrl)
      .member("storageLocation", row.item.storageLocation)
      .member("pickupStatus", row.pickupStatus)
      .member("createdAt", row.createdAt)
      .endObject();
}

void LostItemView::writeChanged(JsonWriter& json, const LostItems::Row& row) {
  json.beginObject()
      .member("lostItemId", row.id)
      .member("imageUrl", row.item.imageUrl)
      .member("storageLocation", row.item.storageLocation)
      .endObject();
}

void LostItemController::publish(RoutePublisher& routes) const {
  using Self = LostItemController;
  items_.publish(routes);
  routes
      .add(*this,
           {.method = drogon::Patch,
            .path = "/lost-items/{id}/status",
            .access = kCouncils,
            .takesBody = true},
           parseStatus, &Self::setStatus)
      .afterCommit(&Self::forgetList);
}

drogon::Task<drogon::HttpResponsePtr> LostItemController::setStatus(
    const Call<PickupChange>& call) const {
  const auto answer = [](const LostItems::Row& row) {
    JsonWriter json;
    json.beginObject().member("lostItemId", row.id).member("pickupStatus", row.pickupStatus);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptFor<LostItems::Row>(call.context, answer);
  const auto row = co_await service_.setStatus(festivalOf(call.caller()), call.input.id,
                                               call.input.pickupStatus, receipt.wanted());
  co_return toResponse(answer(row));
}

}  // namespace festa
