// Reservations over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "controllers/guard_factory.h"
#include "controllers/performance_cards.h"
#include "services/reservation_service.h"

namespace festa {

// Who buys a seat keeps others from trying: they are told at once that somebody does.
extern const lock::Lockable kSeats;

class ReservationController {
 public:
  struct Services {
    std::shared_ptr<ReservationService> reservations;
    std::shared_ptr<PerformanceCards> performances;
    std::shared_ptr<const SoldSeats> sold;
  };

  // `usesSoldView` says whether a request may be answered from the view of sold seats.
  ReservationController(Services services, GuardFactory guardOf,
                        std::function<bool(const drogon::HttpRequestPtr&)> usesSoldView)
      : services_(std::move(services)),
        guardOf_(std::move(guardOf)),
        usesSoldView_(std::move(usesSoldView)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  std::optional<ErrorCode> knownToBeSold(const drogon::HttpRequestPtr& request) const;
  drogon::Task<drogon::HttpResponsePtr> reserve(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> cancel(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> list(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request) const;

  const Services services_;
  const GuardFactory guardOf_;
  const std::function<bool(const drogon::HttpRequestPtr&)> usesSoldView_;
};

}  // namespace festa
