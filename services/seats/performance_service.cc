#include "services/seats/performance_service.h"

#include <numeric>

namespace festa {

namespace {

#define FESTA_PERFORMANCE_COLUMNS \
  "p.id, place.id, place.name, place.location, place.max_seat, p.category, p.title, p.content," \
  " p.acting, p.film_rating, p.price, "                                                        \
  FESTA_LOCAL_TIME("p.start_at") ", "                                                          \
  FESTA_LOCAL_TIME("p.end_at") ", "                                                            \
  FESTA_LOCAL_TIME("p.start_reservation_at") ", "                                              \
  FESTA_LOCAL_TIME("p.end_reservation_at") ", "                                                \
  FESTA_LOCAL_TIME("p.created_at") ", "                                                        \
  FESTA_LOCAL_TIME("p.updated_at")

// What a hall of 50,000 seats may take to be written; a connection's usual limit is for single
// rows.
constexpr std::int64_t kSeatsTimeoutMs = 10'000;
// Few enough for the usual limit, and for not keeping the event loop from other requests.
constexpr std::size_t kSeatsPerRead = 5'000;

// A row of these columns.
Performance performanceOf(const drogon::orm::Row& row) {
  const auto number = [&](std::size_t column) { return row[column].as<std::int64_t>(); };
  const auto text = [&](std::size_t column) { return row[column].as<std::string>(); };
  Performance p;
  p.id = number(0);
  p.place = {number(1), text(2), text(3), number(4)};
  p.data.category = text(5);
  p.data.title = text(6);
  p.data.content = text(7);
  p.data.acting = text(8);
  p.data.filmRating = text(9);
  p.data.price = number(10);
  p.data.startAt = text(11);
  p.data.endAt = text(12);
  p.data.startReservationAt = text(13);
  p.data.endReservationAt = text(14);
  p.createdAt = text(15);
  p.updatedAt = text(16);
  return p;
}

drogon::Task<Performance> findPerformance(drogon::orm::DbClient& db, std::int64_t id) {
  const auto rows = co_await db.execSqlCoro(
      "SELECT " FESTA_PERFORMANCE_COLUMNS
      " FROM performances p JOIN places place ON place.id = p.place_id WHERE p.id = $1",
      id);
  if (rows.empty()) throw ServiceError(ErrorCode::kPerformanceNotFound);
  co_return performanceOf(rows[0]);
}

drogon::Task<> requireRoom(Sql& sql, const NewPerformance& performance) {
  const auto rows =
      co_await sql.execSqlCoro("SELECT max_seat FROM places WHERE id = $1", performance.placeId);
  if (rows.empty()) throw ServiceError(ErrorCode::kPlaceNotFound);
  const auto wanted = std::accumulate(
      performance.sections.begin(), performance.sections.end(), std::int64_t{0},
      [](std::int64_t sum, const SeatSection& section) { return sum + section.seatCount; });
  if (wanted > rows[0][0].as<std::int64_t>()) throw ServiceError(ErrorCode::kPlaceSeatsExceeded);
}

// Of a local time and one in UTC only PostgreSQL knows the order. Others have been compared by
// those who have read the request.
drogon::Task<> requireOrder(Sql& sql, const std::string& start, const std::string& end,
                            const char* startField, const char* endField) {
  if (start.ends_with('Z') == end.ends_with('Z')) co_return;
  const auto rows =
      co_await sql.execSqlCoro("SELECT $1::text::timestamptz <= $2::text::timestamptz", start, end);
  const bool isInOrder = rows[0][0].as<bool>();
  if (isInOrder) co_return;
  throw ServiceError(std::vector<FieldError>{{endField, "시작 시각보다 빠를 수 없습니다.",
                                              std::string("must not be before ") + startField}});
}

drogon::Task<> requireOrder(Sql& sql, const PerformanceData& data) {
  co_await requireOrder(sql, data.startAt, data.endAt, "startAt", "endAt");
  co_await requireOrder(sql, data.startReservationAt, data.endReservationAt, "startReservationAt",
                        "endReservationAt");
}

drogon::Task<std::int64_t> insertPerformance(Sql& sql, const NewPerformance& performance) {
  const auto& data = performance.data;
  // A zone's clocks may skip an hour: a local time within it is later than one soon after it.
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO performances (place_id, category, start_at, end_at, start_reservation_at,"
      " end_reservation_at, title, content, acting, film_rating, price)"
      " VALUES ($1, $2, $3::text::timestamptz,"
      " greatest($3::text::timestamptz, $4::text::timestamptz), $5::text::timestamptz,"
      " greatest($5::text::timestamptz, $6::text::timestamptz), $7, $8, $9, $10, $11) RETURNING id",
      performance.placeId, data.category, data.startAt, data.endAt, data.startReservationAt,
      data.endReservationAt, data.title, data.content, data.acting, data.filmRating, data.price);
  co_return rows[0][0].as<std::int64_t>();
}

// An element of PostgreSQL's array syntax.
std::string quoted(const std::string& element) {
  std::string out = "\"";
  for (const char c : element) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

drogon::Task<> insertSeats(Sql& sql, std::int64_t performanceId,
                           const std::vector<SeatSection>& sections) {
  std::string locations;
  std::string counts;
  for (const auto& section : sections) {
    const char separator = locations.empty() ? '{' : ',';
    locations += separator + quoted(section.location);
    counts += separator + std::to_string(section.seatCount);
  }
  sql.setTimeout(static_cast<double>(kSeatsTimeoutMs) / 1000);
  co_await sql.execSqlCoro("SELECT set_config('statement_timeout', $1, true)",
                           std::to_string(kSeatsTimeoutMs));
  co_await sql.execSqlCoro(
      "INSERT INTO seats (performance_id, location, number)"
      " SELECT $1, section.location, number"
      " FROM unnest($2::text::text[], $3::text::int[]) AS section (location, seats),"
      " generate_series(1, section.seats) AS number",
      performanceId, locations + '}', counts + '}');
}

drogon::Task<Performance> insertWithSeats(Sql& sql, const NewPerformance& performance) {
  co_await requireOrder(sql, performance.data);
  co_await requireRoom(sql, performance);
  const auto id = co_await insertPerformance(sql, performance);
  co_await insertSeats(sql, id, performance.sections);
  co_return co_await findPerformance(sql, id);
}

// Those behind `last`, in order; the columns of ListedSeat.
drogon::Task<drogon::orm::Result> readSeats(drogon::orm::DbClient& db, std::int64_t performanceId,
                                            const std::string& location, const ListedSeat& last) {
  const auto limit = static_cast<std::int64_t>(kSeatsPerRead);
  if (location.empty())
    co_return co_await db.execSqlCoro(
        "SELECT id, location, number, is_reserved FROM seats"
        " WHERE performance_id = $1 AND (location, number) > ($2, $3::bigint)"
        " ORDER BY location, number LIMIT $4",
        performanceId, last.location, last.number, limit);
  co_return co_await db.execSqlCoro(
      "SELECT id, location, number, is_reserved FROM seats"
      " WHERE performance_id = $1 AND location = $2 AND number > $3::bigint"
      " ORDER BY number LIMIT $4",
      performanceId, location, last.number, limit);
}

void append(std::vector<ListedSeat>& seats, const drogon::orm::Result& rows) {
  for (const auto& row : rows)
    seats.push_back({row[0].as<std::int64_t>(), row[1].as<std::string>(), row[2].as<std::int64_t>(),
                     row[3].as<bool>()});
}

SectionPicture sectionOf(const drogon::orm::Row& row) {
  const auto flags = row[1].as<std::string>();
  return {row[0].as<std::string>(), static_cast<std::int32_t>(flags.size()), bitmapOf(flags)};
}

}  // namespace

drogon::Task<Performance> PerformanceService::create(NewPerformance performance,
                                                     const Receipt<Performance>* receipt) const {
  auto write = [&](Sql& sql) { return insertWithSeats(sql, performance); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<Performance> PerformanceService::find(std::int64_t id) const {
  const auto db = database_.client();
  co_return co_await findPerformance(*db, id);
}

drogon::Task<Page<Performance>> PerformanceService::list(PageRequest page) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT " FESTA_PERFORMANCE_COLUMNS
      ", total.count FROM (SELECT count(*) FROM performances) AS total"
      " LEFT JOIN (SELECT id FROM performances WHERE id > $1 ORDER BY id LIMIT $2 OFFSET $3) AS "
      "page ON true"
      " LEFT JOIN performances p ON p.id = page.id LEFT JOIN places place ON place.id = p.place_id"
      " ORDER BY p.id",
      page.after, page.perPage, page.offset());
  Page<Performance> result;
  result.totalCount = rows[0][17].as<std::int64_t>();
  for (const auto& row : rows)
    if (!row[0].isNull()) result.items.push_back(performanceOf(row));
  co_return result;
}

drogon::Task<std::vector<ListedSeat>> PerformanceService::seats(std::int64_t id,
                                                                std::string location) const {
  const auto db = database_.client();
  std::vector<ListedSeat> seats;
  ListedSeat last;  // before all others
  std::size_t read = 0;
  do {
    const auto rows = co_await readSeats(*db, id, location, last);
    read = rows.size();
    append(seats, rows);
    if (!seats.empty()) last = seats.back();
  } while (read == kSeatsPerRead);
  // A performance without seats does not exist; a location without may be asked for.
  if (seats.empty()) co_await findPerformance(*db, id);
  co_return seats;
}

drogon::Task<SeatPicture> PerformanceService::soldSeats(std::int64_t id) const {
  // Seats of a section are numbered from 1 without gaps. One character per seat: the rows of a
  // hall of 50,000 would keep the event loop busy.
  const auto db = database_.client();
  const auto rows = co_await db->execSqlCoro(
      "SELECT location, string_agg(CASE WHEN is_reserved THEN '1' ELSE '0' END, '') FROM"
      " (SELECT location, is_reserved FROM seats WHERE performance_id = $1"
      " ORDER BY location, number) AS seat GROUP BY location ORDER BY location",
      id);
  if (rows.empty()) co_await findPerformance(*db, id);
  SeatPicture picture;
  picture.reserve(rows.size());
  for (const auto& row : rows) picture.push_back(sectionOf(row));
  co_return picture;
}

}  // namespace festa
