// Lost items over HTTP.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/lost_items.h"

namespace festa {

struct LostItemView {
  using Service = LostItemService;
  static constexpr const char* kPath = "/lost-items";
  static constexpr ListKind kList = ListKind::kLostItems;

  static LostItems::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const LostItems::Row& row);
  static void writeChanged(JsonWriter& json, const LostItems::Row& row);
};

struct PickupChange {
  std::int64_t id;
  std::string pickupStatus;
};

class LostItemController {
 public:
  LostItemController(const LostItemService& service, RenderedListCache& lists)
      : service_(service), items_(service, lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> setStatus(const Call<PickupChange>& call) const;
  void forgetList(const Call<PickupChange>& call) const { items_.forgetList(call); }

  const LostItemService& service_;
  const FestivalItemController<LostItemView> items_;
};

}  // namespace festa
