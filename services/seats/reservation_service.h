// Reservations: one seat, one owner.
#pragma once

#include "services/page.h"
#include "services/seats/sale_batches.h"
#include "services/seats/sold_seats.h"

#include <memory>
#include <string>
#include <vector>

namespace festa {

// The caller of a cancellation. An admin may cancel every reservation.
struct Canceller {
  std::int64_t userId = 0;
  bool isAdmin = false;
};

// Thread-safe.
class ReservationService {
 public:
  // All outlive the service.
  ReservationService(const Database& database, SoldSeats& sold, SaleBatches& batches)
      : database_(database), sold_(sold), batches_(batches) {}
  virtual ~ReservationService() = default;

  // Throws ServiceError: kPerformanceNotFound, kSeatNotFound, kUserNotFound, kReservationClosed,
  // kAlreadyReservedSeat (of a committed sale only), and what guardedWrite throws.
  virtual drogon::Task<Reservation> reserve(SeatRef seat, std::int64_t userId, WriteGuard& guard,
                                            const Receipt<Reservation>* receipt = nullptr) const;

  // Takes no lock: one statement frees the seat if the reservation is still active. Throws
  // ServiceError: kReservationNotFound, kForbidden.
  drogon::Task<SeatRef> cancel(std::int64_t id, Canceller who,
                               const Receipt<SeatRef>* receipt = nullptr) const;

  // Active ones, ascending by id. Throws ServiceError(kPerformanceNotFound).
  drogon::Task<Page<Reservation>> list(std::int64_t performanceId, PageRequest page) const;
  static constexpr std::int64_t kMostOwn = 500;
  // The user's active ones for this performance, the newest first, at most kMostOwn.
  drogon::Task<std::vector<Reservation>> own(std::int64_t performanceId, std::int64_t userId) const;
  // Throws ServiceError(kReservationNotFound) for one that is cancelled or another performance's.
  drogon::Task<Reservation> find(std::int64_t performanceId, std::int64_t id) const;

 protected:
  // reserve() by this sale.
  drogon::Task<Reservation> sell(SeatSale& sale, WriteGuard& guard,
                                 const Receipt<Reservation>* receipt) const;

 private:
  const Database& database_;
  SoldSeats& sold_;
  SaleBatches& batches_;
};

}  // namespace festa
