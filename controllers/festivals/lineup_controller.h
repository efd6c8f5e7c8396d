// Line-ups over HTTP.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/lineups.h"

namespace festa {

struct LineupView {
  using Service = LineupService;
  static constexpr const char* kPath = "/lineups";
  static constexpr ListKind kList = ListKind::kLineups;

  static Lineups::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const Lineups::Row& row);
  static void writeChanged(JsonWriter& json, const Lineups::Row& row) { write(json, row); }
};

using LineupController = FestivalItemController<LineupView>;

}  // namespace festa
