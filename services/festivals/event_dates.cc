#include "services/festivals/event_dates.h"

namespace festa {

namespace {

const GuardedTable& guardedDates() {
  static const GuardedTable table =
      guardedTable("festivals", ErrorCode::kFestivalNotFound, "event_date_");
  return table;
}

// `except`: the row that may have the date.
drogon::Task<> requireFree(Sql& sql, std::int64_t festivalId, const std::string& date,
                           std::int64_t except) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT 1 FROM event_dates WHERE festival_id = $1 AND date = $2::text::date AND id <> $3",
      festivalId, date, except);
  if (!rows.empty()) throw ServiceError(ErrorCode::kAlreadyRegisteredEventDate);
}

}  // namespace

const FestivalTable& EventDates::table() {
  static const auto table = festivalTable({.table = "event_dates",
                                           .written = {{"date", "text::date"}},
                                           .read = "id, date::text",
                                           .order = "date, id",
                                           .missing = ErrorCode::kEventDateNotFound,
                                           .foreign = ErrorCode::kEventDateNotInFestival});
  return table;
}

EventDates::Row EventDates::read(const drogon::orm::Row& row) {
  return {row[0].as<std::int64_t>(), {row[1].as<std::string>()}};
}

drogon::Task<EventDates::Row> EventDateService::insertDate(Sql& sql, std::int64_t festivalId,
                                                           const std::string& date,
                                                           const WriteGuard&) const {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO event_dates (festival_id, date) VALUES ($1, $2::text::date)"
      " ON CONFLICT DO NOTHING RETURNING id, date::text",
      festivalId, date);
  // A concurrent writer took the date first. The repetition sees it.
  if (rows.empty()) throw WriteConflict();
  co_return EventDates::read(rows[0]);
}

drogon::Task<EventDates::Row> EventDateService::updateDate(Sql& sql, std::int64_t id,
                                                           const std::string& date,
                                                           const WriteGuard&) const {
  // A date taken by a concurrent writer is a unique violation, which guardedWrite repeats.
  const auto rows = co_await sql.execSqlCoro(
      "UPDATE event_dates SET date = $1::text::date, unguarded = false WHERE id = $2"
      " RETURNING id, date::text",
      date, id);
  if (rows.empty()) throw ServiceError(ErrorCode::kEventDateNotFound);
  co_return EventDates::read(rows[0]);
}

drogon::Task<EventDates::Row> EventDateService::insertOnce(Sql& sql, std::int64_t festivalId,
                                                           const std::string& date,
                                                           const WriteGuard& guard) const {
  co_await requireFree(sql, festivalId, date, 0);
  co_await requireRoom(sql, EventDates::table(), festivalId);
  co_return co_await insertDate(sql, festivalId, date, guard);
}

drogon::Task<EventDates::Row> EventDateService::updateOnce(Sql& sql, std::int64_t festivalId,
                                                           std::int64_t id, const std::string& date,
                                                           const WriteGuard& guard) const {
  co_await requireOwned(sql, EventDates::table(), festivalId, id);
  co_await requireFree(sql, festivalId, date, id);
  co_return co_await updateDate(sql, id, date, guard);
}

drogon::Task<EventDates::Row> EventDateService::create(
    std::int64_t festivalId, EventDates::Item item, WriteGuard& guard,
    const Receipt<EventDates::Row>* receipt) const {
  auto write = [&](Sql& sql) { return insertOnce(sql, festivalId, item.date, guard); };
  const GuardedRow dates{guardedDates(), festivalId};
  co_return co_await guardedWrite(database_, guard, dates, write, receipt);
}

drogon::Task<EventDates::Row> EventDateService::change(
    std::int64_t festivalId, std::int64_t id, EventDates::Item item, WriteGuard& guard,
    const Receipt<EventDates::Row>* receipt) const {
  auto write = [&](Sql& sql) { return updateOnce(sql, festivalId, id, item.date, guard); };
  const GuardedRow dates{guardedDates(), festivalId};
  co_return co_await guardedWrite(database_, guard, dates, write, receipt);
}

}  // namespace festa
