// The sale of one seat, as one statement on its row.
#pragma once

#include "services/seats/seat.h"
#include "services/write/guarded_write.h"

namespace festa {

// Lives in the coroutine that sells.
class SeatSale : public AtomicWrite<Reservation> {
 public:
  SeatSale(SeatRef seat, std::int64_t userId) : seat_(std::move(seat)), userId_(userId) {}

  const SeatRef& seat() const { return seat_; }
  std::int64_t userId() const { return userId_; }

  const GuardedTable& table() const override;
  drogon::Task<std::optional<Reservation>> execute(SqlClient& sql,
                                                   std::optional<std::int64_t> fence) override;
  drogon::Task<StoredRow> explainRefusal(SqlClient& sql) override;
  drogon::Task<std::int64_t> rowId(SqlClient& sql) override;
  drogon::Task<std::optional<Reservation>> readBack(SqlClient& sql) override;

  // Of a row with the reservation's id, the seat's id, login and name of the user, and the time.
  Reservation saleIn(const drogon::orm::Row& row) const;

 private:
  std::optional<Reservation> firstIn(const drogon::orm::Result& rows) const;

  const SeatRef seat_;
  const std::int64_t userId_;
};

}  // namespace festa
