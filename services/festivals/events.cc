#include "services/festivals/events.h"

namespace festa {

namespace {

// Of a row of events. A date and a time make a local time-stamp, in the session's zone.
#define FESTA_EVENT_DATE "(SELECT date FROM event_dates AS d WHERE d.id = event_date_id)"
#define FESTA_EVENT                                                     \
  "id, CASE WHEN localtimestamp < " FESTA_EVENT_DATE                    \
  " + start_time THEN 'UPCOMING'"                                       \
  " WHEN localtimestamp > " FESTA_EVENT_DATE                            \
  " + end_time + CASE WHEN end_time < start_time THEN interval '1 day'" \
  "  ELSE interval '0' END THEN 'COMPLETED' ELSE 'ONGOING' END,"        \
  " to_char(start_time, 'HH24:MI'), to_char(end_time, 'HH24:MI'), title, location"
#define FESTA_EVENT_ORDER "start_time, end_time, id"

}  // namespace

const FestivalTable& Events::table() {
  static const auto table = festivalTable({.table = "events",
                                           .written = {{"event_date_id", "bigint"},
                                                       {"start_time", "text::time"},
                                                       {"end_time", "text::time"},
                                                       {"title", "text"},
                                                       {"location", "text"}},
                                           .read = FESTA_EVENT,
                                           .order = FESTA_EVENT_ORDER,
                                           .missing = ErrorCode::kEventNotFound,
                                           .foreign = ErrorCode::kEventNotInFestival});
  return table;
}

Events::Row Events::read(const drogon::orm::Row& row) {
  return {row[0].as<std::int64_t>(), row[1].as<std::string>(), row[2].as<std::string>(),
          row[3].as<std::string>(),  row[4].as<std::string>(), row[5].as<std::string>()};
}

drogon::Task<> Events::requireReferences(Sql& sql, std::int64_t festivalId, const Item& item) {
  // Locked: a date that is being deleted is waited for instead of being referred to.
  const auto rows = co_await sql.execSqlCoro(
      "SELECT festival_id FROM event_dates WHERE id = $1 FOR KEY SHARE", item.eventDateId);
  if (rows.empty()) throw ServiceError(ErrorCode::kEventDateNotFound);
  if (rows[0][0].as<std::int64_t>() != festivalId)
    throw ServiceError(ErrorCode::kEventDateNotInFestival);
}

drogon::Task<std::vector<Events::Row>> EventService::listOf(std::int64_t festivalId,
                                                            std::int64_t eventDateId) const {
  const auto db = database_.client();
  const auto rows = co_await db->execSqlCoro(
      "SELECT " FESTA_EVENT
      " FROM events WHERE event_date_id = $1 AND festival_id = $2 ORDER BY " FESTA_EVENT_ORDER,
      eventDateId, festivalId);
  if (rows.empty()) {
    const auto dates = co_await db->execSqlCoro(
        "SELECT 1 FROM event_dates WHERE id = $1 AND festival_id = $2", eventDateId, festivalId);
    if (dates.empty()) throw ServiceError(ErrorCode::kEventDateNotFound);
  }
  co_return readAll(rows);
}

}  // namespace festa
