// Reservations over HTTP.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/seats/performance_json.h"
#include "services/seats/reservation_service.h"

namespace festa {

// While one request buys a seat, other requests for it are answered at once with SEAT_BUSY.
extern const lock::Lockable kSeats;

struct ReservationWish {
  SeatRef seat;
  std::int64_t userId;
  std::string performance = {};  // as JSON, for the answer
};

struct ReservationListQuery {
  std::int64_t performanceId;
  PageRequest page;
};

struct ReservationQuery {
  std::int64_t performanceId;
  std::int64_t reservationId;
};

class ReservationController {
 public:
  ReservationController(const ReservationService& reservations, PerformanceJsonCache& performances,
                        const SoldSeats& sold)
      : reservations_(reservations), performances_(performances), sold_(sold) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<> readPerformance(ReservationWish& wish) const;
  std::optional<ErrorCode> knownToBeSold(const Call<ReservationWish>& call) const;
  drogon::Task<drogon::HttpResponsePtr> reserve(const Call<ReservationWish>& call,
                                                WriteGuard& guard) const;
  drogon::Task<drogon::HttpResponsePtr> cancel(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> list(const Call<ReservationListQuery>& call) const;
  // Lists what the caller has reserved for one performance.
  drogon::Task<drogon::HttpResponsePtr> listOwn(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> show(const Call<ReservationQuery>& call) const;

  const ReservationService& reservations_;
  PerformanceJsonCache& performances_;
  const SoldSeats& sold_;
};

}  // namespace festa
