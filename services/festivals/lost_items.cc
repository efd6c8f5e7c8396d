#include "services/festivals/lost_items.h"

namespace festa {

namespace {

#define FESTA_LOST_ITEM \
  "id, image_url, storage_location, pickup_status, " FESTA_LOCAL_TIME("created_at")

drogon::Task<LostItems::Row> updateStatus(Sql& sql, std::int64_t festivalId, std::int64_t id,
                                          const std::string& pickupStatus) {
  co_await requireOwned(sql, LostItems::table(), festivalId, id);
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE lost_items SET pickup_status = $1 WHERE id = $2 AND festival_id = $3"
      " RETURNING " FESTA_LOST_ITEM,
      pickupStatus, id, festivalId);
  if (rows.empty()) throw ServiceError(ErrorCode::kLostItemNotFound);
  co_return LostItems::read(rows[0]);
}

}  // namespace

const FestivalTable& LostItems::table() {
  static const auto table =
      festivalTable({.table = "lost_items",
                     .written = {{"image_url", "text"}, {"storage_location", "text"}},
                     .read = FESTA_LOST_ITEM,
                     .order = "id",
                     .missing = ErrorCode::kLostItemNotFound,
                     .foreign = ErrorCode::kLostItemNotInFestival});
  return table;
}

LostItems::Row LostItems::read(const drogon::orm::Row& row) {
  return {row[0].as<std::int64_t>(),
          {row[1].as<std::string>(), row[2].as<std::string>()},
          row[3].as<std::string>(),
          row[4].as<std::string>()};
}

drogon::Task<LostItems::Row> LostItemService::setStatus(
    std::int64_t festivalId, std::int64_t id, std::string pickupStatus,
    const Receipt<LostItems::Row>* receipt) const {
  auto write = [&](Sql& sql) { return updateStatus(sql, festivalId, id, pickupStatus); };
  co_return co_await plainWrite(database_, write, receipt);
}

}  // namespace festa
