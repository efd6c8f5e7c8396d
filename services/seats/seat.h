// A seat, and its sale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

namespace festa {

inline constexpr std::size_t kMaxSeatLocation = 20;  // characters

struct SeatRef {
  std::int64_t performanceId = 0;
  std::string location;
  std::int32_t number = 0;

  bool operator==(const SeatRef&) const = default;
  bool operator<(const SeatRef& other) const {
    return std::tie(performanceId, location, number) <
           std::tie(other.performanceId, other.location, other.number);
  }
};

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
  std::string reservedAt;  // see FESTA_LOCAL_TIME
};

}  // namespace festa
