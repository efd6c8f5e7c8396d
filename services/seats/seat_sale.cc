#include "services/seats/seat_sale.h"

namespace festa {

namespace {

// Window and user are checked beside the row: neither changes while a sale waits.
std::string singleSaleStatement(bool fenced) {
  const std::string set = fenced ? ", fence = $5" : "";
  const std::string where = fenced ? " AND s.fence < $5" : "";
  return "WITH seat AS (UPDATE seats s SET is_reserved = true" + set +
         " FROM performances p, users u"
         " WHERE s.performance_id = $1 AND s.location = $2 AND s.number = $3 AND NOT "
         "s.is_reserved" +
         where +
         " AND p.id = $1 AND now() >= p.start_reservation_at AND now() < p.end_reservation_at"
         " AND u.id = $4 RETURNING s.id, u.login, u.name),"
         " sale AS (INSERT INTO reservations (user_id, seat_id, performance_id)"
         " SELECT $4, id, $1 FROM seat RETURNING id, reserved_at)"
         " SELECT sale.id, seat.id, seat.login, seat.name, " FESTA_LOCAL_TIME(
             "sale.reserved_at") " FROM sale, seat";
}

}  // namespace

const GuardedTable& SeatSale::table() const {
  static const GuardedTable table = guardedTable("seats", ErrorCode::kSeatNotFound);
  return table;
}

std::optional<Reservation> SeatSale::firstIn(const drogon::orm::Result& rows) const {
  return rows.empty() ? std::nullopt : std::optional(saleIn(rows[0]));
}

Reservation SeatSale::saleIn(const drogon::orm::Row& row) const {
  return Reservation{row[0].as<std::int64_t>(),
                     {userId_, row[2].as<std::string>(), row[3].as<std::string>()},
                     row[1].as<std::int64_t>(),
                     seat_,
                     row[4].as<std::string>()};
}

drogon::Task<std::optional<Reservation>> SeatSale::execute(SqlClient& sql,
                                                           std::optional<std::int64_t> fence) {
  static const std::string kFenced = singleSaleStatement(true);
  static const std::string kUnfenced = singleSaleStatement(false);
  if (fence) {
    const auto rows = co_await sql.execSqlCoro(kFenced, seat_.performanceId, seat_.location,
                                               seat_.number, userId_, *fence);
    co_return firstIn(rows);
  }
  const auto rows = co_await sql.execSqlCoro(kUnfenced, seat_.performanceId, seat_.location,
                                             seat_.number, userId_);
  co_return firstIn(rows);
}

drogon::Task<StoredRow> SeatSale::explainRefusal(SqlClient& sql) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT s.id, s.is_reserved, s.fence,"
      " now() >= p.start_reservation_at AND now() < p.end_reservation_at,"
      " EXISTS (SELECT 1 FROM users WHERE id = $4)"
      " FROM performances p LEFT JOIN seats s"
      " ON s.performance_id = p.id AND s.location = $2 AND s.number = $3 WHERE p.id = $1",
      seat_.performanceId, seat_.location, seat_.number, userId_);
  if (rows.empty()) throw ServiceError(ErrorCode::kPerformanceNotFound);
  const auto row = rows[0];
  if (row[0].isNull()) throw ServiceError(ErrorCode::kSeatNotFound);
  if (!row[4].as<bool>()) throw ServiceError(ErrorCode::kUserNotFound);
  if (row[1].as<bool>()) throw ServiceError(ErrorCode::kAlreadyReservedSeat);
  if (!row[3].as<bool>()) throw ServiceError(ErrorCode::kReservationClosed);
  co_return StoredRow{row[0].as<std::int64_t>(), row[2].as<std::int64_t>()};
}

drogon::Task<std::int64_t> SeatSale::rowId(SqlClient& sql) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT s.id FROM performances p LEFT JOIN seats s"
      " ON s.performance_id = p.id AND s.location = $2 AND s.number = $3 WHERE p.id = $1",
      seat_.performanceId, seat_.location, seat_.number);
  if (rows.empty()) throw ServiceError(ErrorCode::kPerformanceNotFound);
  if (rows[0][0].isNull()) throw ServiceError(ErrorCode::kSeatNotFound);
  co_return rows[0][0].as<std::int64_t>();
}

drogon::Task<std::optional<Reservation>> SeatSale::readBack(SqlClient& sql) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT r.id, s.id, u.login, u.name, " FESTA_LOCAL_TIME("r.reserved_at")
      " FROM seats s JOIN reservations r ON r.seat_id = s.id AND r.cancelled_at IS NULL"
      " JOIN users u ON u.id = r.user_id"
      " WHERE s.performance_id = $1 AND s.location = $2 AND s.number = $3 AND r.user_id = $4",
      seat_.performanceId, seat_.location, seat_.number, userId_);
  co_return firstIn(rows);
}

}  // namespace festa
