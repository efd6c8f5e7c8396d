#include "app/lab/bare_site.h"

#include "app/lab/lab_protections.h"
#include "app/website.h"
#include "services/coupons/coupon_grant.h"
#include "services/seats/seat_sale.h"

namespace festa {

namespace {

using drogon::Task;

bool isByConstraints(const WriteGuard& guard) {
  return guard.inside == Guard::kConstraint;
}

class ReadThenSell : public SeatSale {
 public:
  using SeatSale::SeatSale;

  bool isAtomic() const override { return false; }
  Task<std::optional<Reservation>> execute(SqlClient& sql, std::optional<std::int64_t>) override {
    const StoredRow free = co_await explainRefusal(sql);
    const auto rows = co_await sql.execSqlCoro(
        "WITH sale AS (INSERT INTO reservations (user_id, seat_id, performance_id, unguarded)"
        " VALUES ($1, $2, $3, true) RETURNING id, reserved_at)"
        " SELECT sale.id, $2::bigint, u.login, u.name, " FESTA_LOCAL_TIME(
            "sale.reserved_at") " FROM sale, users u WHERE u.id = $1",
        userId(), free.id, seat().performanceId);
    co_await sql.execSqlCoro("UPDATE seats SET is_reserved = true WHERE id = $1", free.id);
    co_return saleIn(rows[0]);
  }
};

class ReadThenGrant : public CouponGrant {
 public:
  using CouponGrant::CouponGrant;

  bool isAtomic() const override { return false; }
  Task<std::optional<CouponClaim>> execute(SqlClient& sql, std::optional<std::int64_t>) override {
    const auto state = co_await read(sql);
    co_await requireNoUnguardedClaim(sql);
    const auto sequence = state.granted + 1;
    const auto remaining = state.remaining - 1;
    const auto inserted = co_await sql.execSqlCoro(
        "INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user, unguarded)"
        " VALUES ($1, $2, 'DONE', $3, $4, true) RETURNING id",
        couponId(), userId(), sequence, state.onePerUser);
    co_await sql.execSqlCoro("UPDATE coupons SET granted = $1, remaining = $2 WHERE id = $3",
                             sequence, remaining, couponId());
    co_return CouponClaim{inserted[0][0].as<std::int64_t>(), sequence, remaining};
  }

 private:
  // Unguarded claims are no claims to read().
  Task<> requireNoUnguardedClaim(SqlClient& sql) const {
    const auto rows = co_await sql.execSqlCoro(
        "SELECT 1 FROM coupon_claims WHERE coupon_id = $1 AND user_id = $2 AND unguarded"
        " AND one_per_user AND state <> 'FAILED' LIMIT 1",
        couponId(), userId());
    if (!rows.empty()) throw ServiceError(ErrorCode::kAlreadyClaimed);
  }
};

class UnguardedAnnouncements : public AnnouncementService {
 public:
  using AnnouncementService::AnnouncementService;

 protected:
  Task<Announcement> insert(Sql& sql, std::int64_t festivalId, const NewAnnouncement& announcement,
                            const WriteGuard& guard) const override {
    if (isByConstraints(guard))
      co_return co_await AnnouncementService::insert(sql, festivalId, announcement, guard);
    if (announcement.isPinned) co_await requireRoomForPin(sql, festivalId);
    const auto rows = co_await sql.execSqlCoro(
        "INSERT INTO announcements (festival_id, title, content, is_pinned, unguarded)"
        " VALUES ($1, $2, $3, $4, true) RETURNING id, " FESTA_LOCAL_TIME("created_at"),
        festivalId, announcement.title, announcement.content, announcement.isPinned);
    co_return Announcement{rows[0][0].as<std::int64_t>(), announcement.title, announcement.content,
                           announcement.isPinned, rows[0][1].as<std::string>()};
  }
  Task<> pin(Sql& sql, std::int64_t festivalId, std::int64_t id,
             const WriteGuard& guard) const override {
    if (isByConstraints(guard)) {
      co_await AnnouncementService::pin(sql, festivalId, id, guard);
      co_return;
    }
    co_await requireRoomForPin(sql, festivalId);
    co_await sql.execSqlCoro(
        "UPDATE announcements SET is_pinned = true, pin_slot = NULL, unguarded = true"
        " WHERE id = $1 AND deleted_at IS NULL",
        id);
  }
};

class UnguardedEventDates : public EventDateService {
 public:
  using EventDateService::EventDateService;

 protected:
  Task<EventDates::Row> insertDate(Sql& sql, std::int64_t festivalId, const std::string& date,
                                   const WriteGuard& guard) const override {
    if (isByConstraints(guard))
      co_return co_await EventDateService::insertDate(sql, festivalId, date, guard);
    const auto rows = co_await sql.execSqlCoro(
        "INSERT INTO event_dates (festival_id, date, unguarded) VALUES ($1, $2::text::date, true)"
        " RETURNING id, date::text",
        festivalId, date);
    co_return EventDates::read(rows[0]);
  }
  Task<EventDates::Row> updateDate(Sql& sql, std::int64_t id, const std::string& date,
                                   const WriteGuard& guard) const override {
    if (isByConstraints(guard))
      co_return co_await EventDateService::updateDate(sql, id, date, guard);
    co_await sql.execSqlCoro(
        "UPDATE event_dates SET date = $1::text::date, unguarded = true WHERE id = $2", date, id);
    co_return EventDates::Row{id, {date}};
  }
};

class UnguardedQuestions : public QuestionService {
 public:
  using QuestionService::QuestionService;

 protected:
  Task<std::optional<Questions::Row>> insertAt(Sql& sql, std::int64_t festivalId,
                                               const Questions::Item& item, std::int64_t sequence,
                                               const WriteGuard& guard) const override {
    if (isByConstraints(guard))
      co_return co_await QuestionService::insertAt(sql, festivalId, item, sequence, guard);
    const auto rows = co_await sql.execSqlCoro(
        "INSERT INTO questions (festival_id, question, answer, sequence, unguarded)"
        " VALUES ($1, $2, $3, $4, true) RETURNING id, question, answer, sequence",
        festivalId, item.question, item.answer, sequence);
    co_return Questions::read(rows[0]);
  }
  Task<> moveAll(Sql& sql, std::int64_t festivalId, const Places& places,
                 const WriteGuard& guard) const override {
    if (isByConstraints(guard)) {
      co_await QuestionService::moveAll(sql, festivalId, places, guard);
      co_return;
    }
    for (const auto& place : places)
      co_await sql.execSqlCoro(
          "UPDATE questions SET sequence = $3, unguarded = true WHERE id = $2 AND festival_id = $1",
          festivalId, place.questionId, place.sequence);
  }
};

class UnguardedReservations : public ReservationService {
 public:
  using ReservationService::ReservationService;

  Task<Reservation> reserve(SeatRef seat, std::int64_t userId, WriteGuard& guard,
                            const Receipt<Reservation>* receipt) const override {
    if (isByConstraints(guard))
      co_return co_await ReservationService::reserve(seat, userId, guard, receipt);
    ReadThenSell sale(std::move(seat), userId);
    co_return co_await sell(sale, guard, receipt);
  }
};

class UnguardedCoupons : public CouponService {
 public:
  using CouponService::CouponService;

  Task<CouponClaim> claim(std::int64_t couponId, std::int64_t userId, WriteGuard& guard,
                          const Receipt<CouponClaim>* receipt) const override {
    if (isByConstraints(guard))
      co_return co_await CouponService::claim(couponId, userId, guard, receipt);
    ReadThenGrant grant(couponId, userId);
    co_return co_await claimBy(grant, guard, receipt);
  }
};

// A route with and without a backstop; the request says which of them answers.
class LabSwitch : public Route {
 public:
  // `bare` outlives this.
  LabSwitch(std::unique_ptr<Route> guarded, const Route& bare)
      : Route(guarded->spec()), guarded_(std::move(guarded)), bare_(bare) {}

  Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const override {
    const bool isBare = backstopOf(*request) == Backstop::kOff;
    return (isBare ? bare_ : *guarded_).answer(std::move(request));
  }

 private:
  const std::unique_ptr<Route> guarded_;
  const Route& bare_;
};

Pipeline::Parts with(const Protections& protections, Pipeline::Parts parts) {
  return {parts.callers, parts.idempotency, protections, parts.board, parts.lockObserver};
}

}  // namespace

struct BareSite::Controllers {
  const Pipeline pipeline;
  const UnguardedAnnouncements announcementService;
  const UnguardedEventDates dateService;
  const UnguardedQuestions questionService;
  const UnguardedReservations reservationService;
  const UnguardedCoupons couponService;
  // A strategy alone is compared without the view of sold seats: nothing is refused by it.
  const SoldSeats noneKnown{0};
  const AnnouncementController announcements;
  const EventDateController dates;
  const QuestionController questions;
  const ReservationController reservations;
  const CouponController coupons;
  RouteTable routes = {};

  Controllers(const Foundation& on, const Protections& protections, const LabSite& site)
      : pipeline(with(protections, site.pipeline.parts())),
        announcementService(on.database),
        dateService(on.database),
        questionService(on.database),
        reservationService(on.database, on.services.sold, on.services.saleBatches),
        couponService(on.database),
        announcements(announcementService, site.lists),
        dates(dateService, site.lists),
        questions(questionService, site.lists),
        reservations(reservationService, site.performances, noneKnown),
        coupons(couponService, on.services.claims, site.claimFeed, site.claimPlaces) {
    RoutePublisher published(routes, pipeline);
    announcements.publish(published);
    dates.publish(published);
    questions.publish(published);
    reservations.publish(published);
    coupons.publish(published);
  }
};

BareSite::BareSite(const Foundation& on, const Protections& protections, const LabSite& site)
    : controllers_(std::make_unique<Controllers>(on, protections, site)) {}

BareSite::~BareSite() = default;

void BareSite::standBehind(RouteTable& routes) const {
  for (const auto* const bare : controllers_->routes.all()) {
    auto& place = routes.at(bare->spec().method, bare->spec().path);
    place = std::make_unique<LabSwitch>(std::move(place), *bare);
  }
}

}  // namespace festa
