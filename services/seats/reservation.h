// A sold seat.
#pragma once

#include "services/seats/sold_seats.h"

#include <cstdint>
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
  std::string reservedAt;  // see services/write/local_time.h
};

}  // namespace festa
