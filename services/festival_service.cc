#include "services/festival_service.h"

namespace festa {

const GuardedTable& guardedFestivals() {
  static const GuardedTable table = guardedTable("festivals", ErrorCode::kFestivalNotFound);
  return table;
}

namespace {

drogon::Task<std::int64_t> insertFestival(Sql& sql, const NewFestival& festival) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO festivals (university_name, festival_name, start_date, end_date, user_visible)"
      " VALUES ($1, $2, $3::text::date, $4::text::date, false) RETURNING id",
      festival.universityName, festival.festivalName, festival.startDate, festival.endDate);
  co_return rows[0][0].as<std::int64_t>();
}

}  // namespace

drogon::Task<std::int64_t> FestivalService::create(NewFestival festival,
                                                   const Receipt<std::int64_t>* receipt) const {
  auto insert = [&](Sql& sql) { return insertFestival(sql, festival); };
  co_return co_await plainWrite(database_.client(), database_.settings.commitTimeout, insert,
                                receipt);
}

drogon::Task<Festival> FestivalService::find(std::int64_t id) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT university_name, festival_name, start_date::text, end_date::text, user_visible FROM "
      "festivals WHERE id = $1",
      id);
  if (rows.empty()) throw ServiceError(ErrorCode::kFestivalNotFound);
  const auto row = rows[0];
  co_return Festival{id,
                     {row[0].as<std::string>(), row[1].as<std::string>(), row[2].as<std::string>(),
                      row[3].as<std::string>()},
                     row[4].as<bool>()};
}

}  // namespace festa
