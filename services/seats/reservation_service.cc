#include "services/seats/reservation_service.h"

#include "services/seats/seat_sale.h"

namespace festa {

namespace {

#define FESTA_RESERVATION_COLUMNS                                          \
  "r.id, r.user_id, u.login, u.name, s.id, s.performance_id, s.location, " \
  "s.number, " FESTA_LOCAL_TIME("r.reserved_at")
#define FESTA_RESERVATION_TABLES                                       \
  " FROM reservations r JOIN users u ON u.id = r.user_id JOIN seats s" \
  " ON s.id = r.seat_id"

Reservation fromRow(const drogon::orm::Row& row) {
  return Reservation{
      row[0].as<std::int64_t>(),
      {row[1].as<std::int64_t>(), row[2].as<std::string>(), row[3].as<std::string>()},
      row[4].as<std::int64_t>(),
      {row[5].as<std::int64_t>(), row[6].as<std::string>(), row[7].as<std::int32_t>()},
      row[8].as<std::string>()};
}

drogon::Task<SeatRef> cancelIn(Sql& sql, std::int64_t id, const Canceller& who) {
  const auto freed = co_await sql.execSqlCoro(
      "WITH r AS (UPDATE reservations SET cancelled_at = now()"
      " WHERE id = $1 AND cancelled_at IS NULL AND ($2 OR user_id = $3) RETURNING seat_id)"
      " UPDATE seats s SET is_reserved = false, version = version + 1 FROM r WHERE s.id = r.seat_id"
      " RETURNING s.performance_id, s.location, s.number",
      id, who.isAdmin, who.userId);
  if (!freed.empty())
    co_return SeatRef{freed[0][0].as<std::int64_t>(), freed[0][1].as<std::string>(),
                      freed[0][2].as<std::int32_t>()};
  const auto active = co_await sql.execSqlCoro(
      "SELECT 1 FROM reservations WHERE id = $1 AND cancelled_at IS NULL", id);
  if (active.empty()) throw ServiceError(ErrorCode::kReservationNotFound);
  throw ServiceError(ErrorCode::kForbidden, "another user's reservation");
}

}  // namespace

drogon::Task<Reservation> ReservationService::reserve(SeatRef seat, std::int64_t userId,
                                                      WriteGuard& guard,
                                                      const Receipt<Reservation>* receipt) const {
  SeatSale sale(std::move(seat), userId);
  co_return co_await sell(sale, guard, receipt);
}

drogon::Task<Reservation> ReservationService::sell(SeatSale& sale, WriteGuard& guard,
                                                   const Receipt<Reservation>* receipt) const {
  auto shared = [&] { return batches_.attempt(sale, guard, receipt); };
  // Before any statement of this sale: inside a transaction one may see what was then.
  const auto before = SoldSeats::Clock::now();
  try {
    auto reservation = co_await guardedStatement(database_, guard, sale, receipt, shared);
    sold_.add(sale.seat(), before);
    co_return reservation;
  } catch (const ServiceError& error) {
    if (error.code() == ErrorCode::kAlreadyReservedSeat) sold_.add(sale.seat(), before);
    throw;
  }
}

drogon::Task<SeatRef> ReservationService::cancel(std::int64_t id, Canceller who,
                                                 const Receipt<SeatRef>* receipt) const {
  auto write = [&](Sql& sql) { return cancelIn(sql, id, who); };
  auto seat = co_await plainWrite(database_, write, receipt);
  sold_.forget(seat);
  co_return seat;
}

drogon::Task<Page<Reservation>> ReservationService::list(std::int64_t performanceId,
                                                         PageRequest page) const {
  const auto counted = co_await database_.client()->execSqlCoro(
      "SELECT (SELECT count(*) FROM reservations WHERE performance_id = p.id AND cancelled_at IS "
      "NULL) FROM performances p WHERE p.id = $1",
      performanceId);
  if (counted.empty()) throw ServiceError(ErrorCode::kPerformanceNotFound);
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT " FESTA_RESERVATION_COLUMNS FESTA_RESERVATION_TABLES
      " WHERE r.performance_id = $1 AND r.cancelled_at IS NULL AND r.id > $2"
      " ORDER BY r.id OFFSET $3 LIMIT $4",
      performanceId, page.after, page.offset(), page.perPage);
  Page<Reservation> listing;
  listing.totalCount = counted[0][0].as<std::int64_t>();
  listing.items.reserve(rows.size());
  for (const auto& row : rows) listing.items.push_back(fromRow(row));
  co_return listing;
}

drogon::Task<std::vector<Reservation>> ReservationService::own(std::int64_t performanceId,
                                                               std::int64_t userId) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT " FESTA_RESERVATION_COLUMNS FESTA_RESERVATION_TABLES
      " WHERE r.performance_id = $1 AND r.user_id = $2 AND r.cancelled_at IS NULL"
      " ORDER BY r.id DESC LIMIT $3",
      performanceId, userId, kMostOwn);
  std::vector<Reservation> reservations;
  for (const auto& row : rows) reservations.push_back(fromRow(row));
  co_return reservations;
}

drogon::Task<Reservation> ReservationService::find(std::int64_t performanceId,
                                                   std::int64_t id) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT " FESTA_RESERVATION_COLUMNS FESTA_RESERVATION_TABLES
      " WHERE r.id = $1 AND r.performance_id = $2 AND r.cancelled_at IS NULL",
      id, performanceId);
  if (rows.empty()) throw ServiceError(ErrorCode::kReservationNotFound);
  co_return fromRow(rows[0]);
}

}  // namespace festa
