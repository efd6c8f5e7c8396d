// The sale of one seat, as one statement on its row.
#pragma once

#include "services/seats/reservation.h"
#include "services/write/guarded_statement.h"

namespace festa {

// Lives in the coroutine that sells; tells the view of sold seats what it learns.
class SeatSale : public AtomicWrite<Reservation> {
 public:
  // `sold` outlives the sale.
  SeatSale(SeatRef seat, std::int64_t userId, SoldSeats& sold)
      : seat_(std::move(seat)), userId_(userId), sold_(sold) {}

  const SeatRef& seat() const { return seat_; }
  std::int64_t userId() const { return userId_; }

  const GuardedTable& table() const override;
  drogon::Task<std::optional<Reservation>> execute(SqlClient& sql,
                                                   std::optional<std::int64_t> fence) override;
  drogon::Task<StoredRow> look(SqlClient& sql) override;
  drogon::Task<std::int64_t> rowId(SqlClient& sql) override;
  drogon::Task<std::optional<Reservation>> readBack(SqlClient& sql) override;

  // Of a row with the reservation's id, the seat's id, login and name of the user, and the time.
  Reservation saleIn(const drogon::orm::Row& row) const;

 private:
  std::optional<Reservation> firstIn(const drogon::orm::Result& rows) const;

  const SeatRef seat_;
  const std::int64_t userId_;
  SoldSeats& sold_;
  // Before any statement of this sale: inside a transaction a look may see what was then.
  const SoldSeats::Clock::time_point began_ = SoldSeats::Clock::now();
};

}  // namespace festa
