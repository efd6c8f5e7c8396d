// Everything between a request and the services: controllers, routes, the pipeline, the front.
#pragma once

#include "app/accounts.h"
#include "app/database_clients.h"
#include "app/lab.h"
#include "app/locks.h"
#include "app/operations/lock_admin_controller.h"
#include "app/operations/metrics_page.h"
#include "app/operations/operations_controller.h"
#include "app/operations/overview_controller.h"
#include "app/queues.h"
#include "controllers/accounts/council_controller.h"
#include "controllers/accounts/user_controller.h"
#include "controllers/announcements/announcement_controller.h"
#include "controllers/announcements/notification_controller.h"
#include "controllers/coupons/coupon_controller.h"
#include "controllers/festivals/festival_controller.h"
#include "controllers/festivals/lineup_controller.h"
#include "controllers/festivals/lost_item_controller.h"
#include "controllers/festivals/question_controller.h"
#include "controllers/festivals/schedule_controller.h"
#include "controllers/http/drain.h"
#include "controllers/http/http_front.h"
#include "controllers/pages/docs_controller.h"
#include "controllers/pages/pages_controller.h"
#include "controllers/seats/performance_controller.h"
#include "controllers/seats/reservation_controller.h"
#include "controllers/seats/seat_events_controller.h"

#include <memory>

namespace festa {

// The rules. Thread-safe.
struct Services {
  Services(const Config& config, const Database& database, Accounts& accounts);

  const AnnouncementService announcements;
  const CouncilService councils;
  const FestivalService festivals;
  const LineupService lineups;
  const EventDateService eventDates;
  const EventService events;
  const QuestionService questions;
  const LostItemService lostItems;
  const NotificationService notifications;
  const UserService users;
  const PerformanceService performances;
  SoldSeats sold;
  SaleBatches saleBatches;
  const ReservationService reservations;
  const CouponService coupons;
  const ClaimReader claims;
  const ClaimExpiry claimExpiry;
  KeyBatches keyBatches;
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
  Services& services;
  std::shared_ptr<Drain> drain;
};

// Hooks itself into Drogon; must outlive the application's run.
class Website {
 public:
  // `lab`, which may be null, outlives it as well.
  Website(const Foundation& on, Lab* lab);

  // The feeds and other regular work, on an IO loop: database clients belong to those.
  void start(trantor::EventLoop* loop) const;
  // Ends all event streams.
  void closeStreams() const;
  // While the loops still run, and not on one of them.
  void stop();

 private:
  void publish(RoutePublisher& routes);

  Lab* const lab_;
  const CallerCheck callers_;
  const Idempotency idempotency_;
  const Pipeline pipeline_;
  RenderedListCache lists_;
  PerformanceJsonCache performanceJson_;
  // Shared: their callbacks are kept by the loops and by answers.
  const std::shared_ptr<StreamBounds> streamBounds_;  // of all event streams
  const std::shared_ptr<StreamPlaces> claimPlaces_;
  const std::shared_ptr<ClaimFeed> claimFeed_;
  const std::shared_ptr<StreamPlaces> listenerPlaces_;
  const std::shared_ptr<NotificationFeed> notificationFeed_;
  const std::shared_ptr<StreamPlaces> watcherPlaces_;
  const std::shared_ptr<SeatFeed> seatFeed_;
  MetricsPage metricsPage_;
  const Health health_;
  const OperationsController operations_;
  const std::shared_ptr<InstanceRows> instanceRows_;
  const OverviewController overview_;
  const LockAdminController lockAdmin_;
  const CouncilController councils_;
  const FestivalController festivals_;
  const LineupController lineups_;
  const EventDateController eventDates_;
  const EventController events_;
  const QuestionController questions_;
  const LostItemController lostItems_;
  const NotificationController notifications_;
  const AnnouncementController announcements_;
  const UserController users_;
  const PerformanceController performances_;
  const SeatEventsController liveSeats_;
  const ReservationController reservations_;
  const CouponController coupons_;
  const DocsController docs_;
  const PagesController pages_;
  RouteTable routes_;
  HttpFront front_;
};

}  // namespace festa
