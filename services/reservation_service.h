// Reservations: one seat, one owner.
#pragma once

#include "services/database.h"
#include "services/page.h"
#include "services/receipt.h"
#include "services/sold_seats.h"

#include <memory>
#include <string>

namespace festa {

struct Reservation {
  struct User {
    std::int64_t id = 0;
    std::string login;
    std::string name;
  };

  std::int64_t id = 0;
  User user;
  std::int64_t seatId = 0;
  SeatRef seat;
  std::string reservedAt;  // see services/local_time.h
};

// Who cancels: an admin may cancel anybody's.
struct Canceller {
  std::int64_t userId = 0;
  bool isAdmin = false;
};

// Thread-safe.
class ReservationService {
 public:
  ReservationService(const Database& database, SoldSeats& sold)
      : database_(database), sold_(sold) {}

  // Throws ServiceError: kPerformanceNotFound, kSeatNotFound, kUserNotFound, kReservationClosed,
  // kAlreadyReservedSeat (of a committed sale only), and what guardedWrite throws.
  drogon::Task<Reservation> reserve(SeatRef seat, std::int64_t userId, WriteGuard guard,
                                    const Receipt<Reservation>* receipt = nullptr) const;

  // Takes no lock: one statement frees the seat if the reservation is still active. Throws
  // ServiceError: kReservationNotFound, kForbidden.
  drogon::Task<SeatRef> cancel(std::int64_t id, Canceller who,
                               const Receipt<SeatRef>* receipt = nullptr) const;

  // Active ones, ascending by id. Throws ServiceError(kPerformanceNotFound).
  drogon::Task<Page<Reservation>> list(std::int64_t performanceId, PageRequest page) const;
  // Throws ServiceError(kReservationNotFound) for one that is cancelled or another performance's.
  drogon::Task<Reservation> find(std::int64_t performanceId, std::int64_t id) const;

 private:
  const Database& database_;
  SoldSeats& sold_;
};

}  // namespace festa
