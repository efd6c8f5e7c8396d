#include "controllers/festivals/lineup_controller.h"

namespace festa {

Lineups::Item LineupView::parse(FieldReader& fields) {
  return {fields.text("name", 50), fields.urlOrEmpty("imageUrl"), fields.dateTime("performanceAt")};
}

void LineupView::write(JsonWriter& json, const Lineups::Row& row) {
  json.beginObject()
      .member("lineupId", row.id)
      .member("name", row.item.name)
      .member("imageUrl", row.item.imageUrl)
      .member("performanceAt", row.item.performanceAt)
      .endObject();
}

}  // namespace festa
