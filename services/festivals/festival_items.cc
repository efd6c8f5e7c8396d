#include "services/festivals/festival_items.h"

namespace festa {

namespace {

// "a, b" of the names, "$2::text::t, $3::text::u" of the parameters from `first` on, or "a = $3…".
std::string joined(const FestivalColumns& columns, int first, bool withNames, bool withValues) {
  std::string text;
  for (const auto& [name, type] : columns.written) {
    if (!text.empty()) text += ", ";
    if (withNames) text += name;
    if (withNames && withValues) text += " = ";
    if (withValues) text += "$" + std::to_string(first++) + "::" + type;
  }
  return text;
}

}  // namespace

FestivalTable festivalTable(const FestivalColumns& columns) {
  const std::string table = columns.table;
  const std::string returning = " RETURNING " + columns.read;
  return {
      "SELECT " + columns.read + " FROM " + table + " WHERE festival_id = $1 ORDER BY " +
          columns.order,
      "INSERT INTO " + table + " (festival_id, " + joined(columns, 2, true, false) +
          ") SELECT id, " + joined(columns, 2, false, true) +
          " FROM festivals WHERE id = $1 AND (SELECT count(*) FROM " + table +
          " WHERE festival_id = $1) < " + std::to_string(kMostItemsOfFestival) + returning,
      "UPDATE " + table + " SET " + joined(columns, 3, true, true) +
          " WHERE id = $2 AND festival_id = $1" + returning,
      "DELETE FROM " + table + " WHERE id = $2 AND festival_id = $1 RETURNING id",
      "SELECT festival_id FROM " + table + " WHERE id = $1",
      "SELECT count(*) FROM " + table + " WHERE festival_id = $1",
      columns.missing,
      columns.foreign,
  };
}

drogon::Task<> requireOwned(Sql& sql, const FestivalTable& table, std::int64_t festivalId,
                            std::int64_t id) {
  const auto rows = co_await sql.execSqlCoro(table.owner, id);
  if (rows.empty()) throw ServiceError(table.missing);
  if (rows[0][0].as<std::int64_t>() != festivalId) throw ServiceError(table.foreign);
}

drogon::Task<> requireRoom(Sql& sql, const FestivalTable& table, std::int64_t festivalId) {
  const auto rows = co_await sql.execSqlCoro(table.count, festivalId);
  if (rows[0][0].as<std::int64_t>() >= kMostItemsOfFestival)
    throw ServiceError(ErrorCode::kFestivalLimitExceeded);
}

drogon::Task<> requireFestival(drogon::orm::DbClient& sql, std::int64_t festivalId) {
  const auto rows = co_await sql.execSqlCoro("SELECT 1 FROM festivals WHERE id = $1", festivalId);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
}

}  // namespace festa
