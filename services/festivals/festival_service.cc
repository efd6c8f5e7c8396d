#include "services/festivals/festival_service.h"

namespace festa {

namespace {

drogon::Task<std::int64_t> insertFestival(Sql& sql, const NewFestival& festival) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO festivals (university_name, festival_name, start_date, end_date, user_visible)"
      " VALUES ($1, $2, $3::text::date, $4::text::date, false) RETURNING id",
      festival.universityName, festival.festivalName, festival.startDate, festival.endDate);
  co_return rows[0][0].as<std::int64_t>();
}

drogon::Task<std::int64_t> updateInformation(Sql& sql, std::int64_t id,
                                             const FestivalInformation& information) {
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE festivals SET festival_name = $1, start_date = $2::text::date,"
      " end_date = $3::text::date, user_visible = $4 WHERE id = $5 RETURNING id",
      information.festivalName, information.startDate, information.endDate, information.userVisible,
      id);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  co_return id;
}

drogon::Task<std::string> updateGuide(Sql& sql, std::int64_t id, const std::string& guide) {
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE festivals SET lost_item_guide = $1 WHERE id = $2 RETURNING id", guide, id);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  co_return guide;
}

// Columns 0 to 5: id, university, name, start, end, visible.
Festival festivalIn(const drogon::orm::Row& row) {
  return {row[0].as<std::int64_t>(),
          {row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>(),
           row[4].as<std::string>()},
          row[5].as<bool>()};
}

#define FESTA_FESTIVAL \
  "id, university_name, festival_name, start_date::text, end_date::text, user_visible"

}  // namespace

drogon::Task<std::int64_t> FestivalService::create(NewFestival festival,
                                                   const Receipt<std::int64_t>* receipt) const {
  auto insert = [&](Sql& sql) { return insertFestival(sql, festival); };
  co_return co_await plainWrite(database_, insert, receipt);
}

drogon::Task<Festival> FestivalService::find(std::int64_t id) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT " FESTA_FESTIVAL " FROM festivals WHERE id = $1", id);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  co_return festivalIn(rows[0]);
}

drogon::Task<std::int64_t> FestivalService::setInformation(
    std::int64_t id, FestivalInformation information, const Receipt<std::int64_t>* receipt) const {
  auto write = [&](Sql& sql) { return updateInformation(sql, id, information); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<std::string> FestivalService::lostItemGuide(std::int64_t id) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT lost_item_guide FROM festivals WHERE id = $1", id);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  co_return rows[0][0].as<std::string>();
}

drogon::Task<std::string> FestivalService::setLostItemGuide(
    std::int64_t id, std::string guide, const Receipt<std::string>* receipt) const {
  auto write = [&](Sql& sql) { return updateGuide(sql, id, guide); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<std::vector<Festival>> FestivalService::visibleAt(std::string universityName) const {
  const std::int64_t most = kMostUniversities;
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT " FESTA_FESTIVAL
      " FROM festivals WHERE user_visible AND strpos(lower(university_name), lower($1)) > 0"
      " ORDER BY id LIMIT $2",
      universityName, most);
  std::vector<Festival> all;
  for (const auto& row : rows) all.push_back(festivalIn(row));
  co_return all;
}

}  // namespace festa
