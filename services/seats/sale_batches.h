// Sales of different seats in one statement and one commit.
#pragma once

#include "services/seats/seat_sale.h"
#include "services/write/batches.h"

#include <chrono>

namespace festa {

// One sale in a batch, and what became of it.
struct SaleMember : BatchMember {
  SaleMember(SeatSale& soldBy, const WriteGuard& by, const Receipt<Reservation>* kept)
      : sale(soldBy), guard(by), receipt(kept) {}

  const SeatRef& row() const { return sale.seat(); }

  SeatSale& sale;
  const WriteGuard& guard;              // has a fence
  const Receipt<Reservation>* receipt;  // may be null
  const std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();

  SharedResult<Reservation> result = {};
};

// The first attempt of a sale, see guardedStatement(). Each member's outcome is its own: a seat
// that is sold, closed, locked by another transaction or fenced off, and a user whose row is
// locked, cost the others nothing. The statement is sent while the leases of all its members last.
// Answers with an Idempotency-Key are stored in the same transaction. Thread-safe.
class SaleBatches : public Batches<SaleMember> {
 public:
  // `database` outlives it.
  SaleBatches(const Database& database, BatchLimits limits)
      : Batches(limits), database_(database) {}

  // The sale, or nullopt: its row was not touched. Alone where sales do not share. Throws
  // CommitUnknown, and ServiceError as inTransaction() does.
  drogon::Task<std::optional<Reservation>> attempt(SeatSale& sale, const WriteGuard& guard,
                                                   const Receipt<Reservation>* receipt);

 private:
  drogon::Task<> write(std::vector<SaleMember*> batch) override;
  // Throws what becomes the outcome of all members.
  drogon::Task<> sell(std::vector<SaleMember*> batch) const;

  const Database& database_;
};

}  // namespace festa
