// Performances and the seats that are sold for them.
#pragma once

#include "services/page.h"
#include "services/seats/seat_picture.h"
#include "services/write/database.h"
#include "services/write/receipt.h"

#include <string>
#include <vector>

namespace festa {

struct Place {
  std::int64_t id = 0;
  std::string name;
  std::string location;
  std::int64_t maxSeat = 0;
};

// Times are ISO date-times with six fraction digits: those that are read are local ones of the
// configured zone, those that are written may be in UTC instead, with a Z at the end.
struct PerformanceData {
  std::string category;
  std::string startAt;
  std::string endAt;
  std::string startReservationAt;
  std::string endReservationAt;
  std::string title;
  std::string content;
  std::string acting;
  std::string filmRating;
  std::int64_t price = 0;
};

struct SeatSection {
  std::string location;
  std::int64_t seatCount = 0;  // numbered from 1
};

struct NewPerformance {
  std::int64_t placeId = 0;
  PerformanceData data;
  std::vector<SeatSection> sections;  // no location twice
};

struct Performance {
  std::int64_t id = 0;
  Place place;
  PerformanceData data;
  std::string createdAt;
  std::string updatedAt;
};

struct ListedSeat {
  std::int64_t id = 0;
  std::string location;
  std::int64_t number = 0;
  bool isReserved = false;
};

// Thread-safe.
class PerformanceService {
 public:
  explicit PerformanceService(const Database& database) : database_(database) {}

  // With all its seats, or not at all. Throws ServiceError: kPlaceNotFound, kPlaceSeatsExceeded.
  drogon::Task<Performance> create(NewPerformance performance,
                                   const Receipt<Performance>* receipt = nullptr) const;
  // Throws ServiceError(kPerformanceNotFound).
  drogon::Task<Performance> find(std::int64_t id) const;
  // Ascending by id.
  drogon::Task<Page<Performance>> list(PageRequest page) const;
  // All seats by location and number, or those of one location (empty: all); none for a location
  // that it does not have. Read in parts: a large hall is no snapshot of one moment. Throws
  // ServiceError(kPerformanceNotFound).
  drogon::Task<std::vector<ListedSeat>> seats(std::int64_t id, std::string location) const;
  // Which seats are sold, read by one statement. Throws ServiceError(kPerformanceNotFound).
  drogon::Task<SeatPicture> soldSeats(std::int64_t id) const;

 private:
  const Database& database_;
};

}  // namespace festa
