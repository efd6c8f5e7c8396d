// Everything between a request and the services: controllers, routes, the pipeline, the edge.
#pragma once

#include "app/accounts.h"
#include "app/database_clients.h"
#include "app/edge.h"
#include "app/lock_admin.h"
#include "app/locks.h"
#include "app/metrics_page.h"
#include "app/operations.h"
#include "app/queues.h"
#include "controllers/announcement_controller.h"
#include "controllers/council_controller.h"
#include "controllers/coupon_controller.h"
#include "controllers/docs_controller.h"
#include "controllers/drain.h"
#include "controllers/festival_controller.h"
#include "controllers/performance_controller.h"
#include "controllers/reservation_controller.h"
#include "controllers/user_controller.h"

#include <memory>

namespace festa {

// The rules. Thread-safe.
struct Services {
  Services(const Config& config, const Database& database, Accounts& accounts);

  const AnnouncementService announcements;
  const CouncilService councils;
  const FestivalService festivals;
  const UserService users;
  const PerformanceService performances;
  SoldSeats sold;
  const ReservationService reservations;
  const CouponService coupons;
  const ClaimReader claims;
  const ClaimExpiry claimExpiry;
  const IdempotencyService idempotency;
};

// What a website stands on; all of it outlives the website.
struct Foundation {
  const Config& config;
  const DatabaseClients& database;
  Metrics& metrics;
  Locks& locks;
  const Queues& queues;
  Accounts& accounts;
  const Services& services;
  std::shared_ptr<Drain> drain;
};

// Hooks itself into Drogon; must outlive the application's run.
class Website {
 public:
  explicit Website(const Foundation& on);

  void start(trantor::EventLoop* loop) const { streams_->start(loop); }
  // Ends all event streams.
  void closeStreams() const { streams_->close(); }
  // While the loops still run, and not on one of them.
  void stop() { metricsPage_.stop(); }

 private:
  void publish(Routes& routes) const;

  const CallerCheck callers_;
  const Idempotency idempotency_;
  const Pipeline pipeline_;
  RenderedListCache lists_;
  PerformanceCards cards_;
  const std::shared_ptr<ClaimStreams> streams_;
  MetricsPage metricsPage_;
  const Operations operations_;
  const LockAdmin lockAdmin_;
  const CouncilController councils_;
  const FestivalController festivals_;
  const AnnouncementController announcements_;
  const UserController users_;
  const PerformanceController performances_;
  const ReservationController reservations_;
  const CouponController coupons_;
  const DocsController docs_;
  RouteTable routes_;
  Edge edge_;
};

}  // namespace festa
