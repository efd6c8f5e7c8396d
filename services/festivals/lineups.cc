#include "services/festivals/lineups.h"

namespace festa {

const FestivalTable& Lineups::table() {
  static const auto table =
      festivalTable({.table = "lineups",
                     .written = {{"name", "text"},
                                 {"image_url", "text"},
                                 {"performance_at", "text::timestamptz"}},
                     .read = "id, name, image_url, " FESTA_LOCAL_TIME("performance_at"),
                     .order = "performance_at, id",
                     .missing = ErrorCode::kLineupNotFound,
                     .foreign = ErrorCode::kLineupNotInFestival});
  return table;
}

Lineups::Row Lineups::read(const drogon::orm::Row& row) {
  return {row[0].as<std::int64_t>(),
          {row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>()}};
}

}  // namespace festa
