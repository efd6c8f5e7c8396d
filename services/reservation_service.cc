#include "services/reservation_service.h"

#include "services/guarded_statement.h"
#include "services/local_time.h"

namespace festa {

namespace {

// Window and user are checked beside the row: neither changes while a sale waits.
std::string saleStatement(bool fenced) {
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

// The sale of one seat, as one statement on its row.
// Lives in the coroutine that sells; tells the view of sold seats what it learns.
class SeatSale : public AtomicWrite<Reservation> {
 public:
  SeatSale(SeatRef seat, std::int64_t userId, SoldSeats& sold)
      : seat_(std::move(seat)), userId_(userId), sold_(sold) {}

  const GuardedTable& table() const override;
  drogon::Task<std::optional<Reservation>> execute(SqlClient& sql,
                                                   std::optional<std::int64_t> fence) override;
  drogon::Task<StoredRow> look(SqlClient& sql) override;
  drogon::Task<std::int64_t> rowId(SqlClient& sql) override;
  drogon::Task<std::optional<Reservation>> readBack(SqlClient& sql) override;
  drogon::Task<Reservation> readThenWrite(Sql& sql) override;

 private:
  std::optional<Reservation> saleIn(const drogon::orm::Result& rows) const;

  const SeatRef seat_;
  const std::int64_t userId_;
  SoldSeats& sold_;
  // Before any statement of this sale: inside a transaction a look may see what was then.
  const SoldSeats::Clock::time_point began_ = SoldSeats::Clock::now();
};

const GuardedTable& SeatSale::table() const {
  static const GuardedTable table = guardedTable("seats", ErrorCode::kSeatNotFound);
  return table;
}

std::optional<Reservation> SeatSale::saleIn(const drogon::orm::Result& rows) const {
  if (rows.empty()) return std::nullopt;
  const auto row = rows[0];
  return Reservation{row[0].as<std::int64_t>(),
                     {userId_, row[2].as<std::string>(), row[3].as<std::string>()},
                     row[1].as<std::int64_t>(),
                     seat_,
                     row[4].as<std::string>()};
}

drogon::Task<std::optional<Reservation>> SeatSale::execute(SqlClient& sql,
                                                           std::optional<std::int64_t> fence) {
  static const std::string kFenced = saleStatement(true);
  static const std::string kUnfenced = saleStatement(false);
  if (fence) {
    const auto rows = co_await sql.execSqlCoro(kFenced, seat_.performanceId, seat_.location,
                                               seat_.number, userId_, *fence);
    co_return saleIn(rows);
  }
  const auto rows = co_await sql.execSqlCoro(kUnfenced, seat_.performanceId, seat_.location,
                                             seat_.number, userId_);
  co_return saleIn(rows);
}

drogon::Task<StoredRow> SeatSale::look(SqlClient& sql) {
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
  if (row[1].as<bool>()) {
    sold_.add(seat_, began_);
    throw ServiceError(ErrorCode::kAlreadyReservedSeat);
  }
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
  co_return saleIn(rows);
}

drogon::Task<Reservation> SeatSale::readThenWrite(Sql& sql) {
  const StoredRow stored = co_await look(sql);
  const auto rows = co_await sql.execSqlCoro(
      "WITH sale AS (INSERT INTO reservations (user_id, seat_id, performance_id, unguarded)"
      " VALUES ($1, $2, $3, true) RETURNING id, reserved_at)"
      " SELECT sale.id, $2::bigint, u.login, u.name, " FESTA_LOCAL_TIME(
          "sale.reserved_at") " FROM sale, users u WHERE u.id = $1",
      userId_, stored.id, seat_.performanceId);
  co_await sql.execSqlCoro("UPDATE seats SET is_reserved = true WHERE id = $1", stored.id);
  co_return *saleIn(rows);
}

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
                                                      WriteGuard guard,
                                                      const Receipt<Reservation>* receipt) const {
  SeatSale sale(seat, userId, sold_);
  const auto before = SoldSeats::Clock::now();
  auto reservation = co_await guardedStatement<Reservation>(database_.client(), guard,
                                                            database_.settings, sale, receipt);
  sold_.add(seat, before);
  co_return reservation;
}

drogon::Task<SeatRef> ReservationService::cancel(std::int64_t id, Canceller who,
                                                 const Receipt<SeatRef>* receipt) const {
  auto write = [&](Sql& sql) { return cancelIn(sql, id, who); };
  auto seat =
      co_await plainWrite(database_.client(), database_.settings.commitTimeout, write, receipt);
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
