#include "app/lab/lab_writes.h"

#include "services/announcements/announcement_service.h"
#include "services/coupons/coupon_grant.h"
#include "services/seats/seat_sale.h"

namespace festa {

namespace {

drogon::Task<> requireRoomForPin(Sql& sql, std::int64_t festivalId) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT count(*) FROM announcements WHERE festival_id = $1 AND is_pinned", festivalId);
  if (rows[0][0].as<std::int64_t>() >= AnnouncementService::kMaxPinned)
    throw ServiceError(ErrorCode::kPinnedLimitExceeded);
}

// Unguarded claims are no claims to CouponGrant::read().
drogon::Task<> requireNoUnguardedClaim(Sql& sql, const CouponGrant& grant) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT 1 FROM coupon_claims WHERE coupon_id = $1 AND user_id = $2 AND unguarded"
      " AND one_per_user AND state <> 'FAILED' LIMIT 1",
      grant.couponId(), grant.userId());
  if (!rows.empty()) throw ServiceError(ErrorCode::kAlreadyClaimed);
}

}  // namespace

drogon::Task<Announcement> LabWrites::insert(Sql& sql, std::int64_t festivalId,
                                             const NewAnnouncement& announcement) const {
  if (announcement.isPinned) co_await requireRoomForPin(sql, festivalId);
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO announcements (festival_id, title, content, is_pinned, unguarded)"
      " VALUES ($1, $2, $3, $4, true) RETURNING id, " FESTA_LOCAL_TIME("created_at"),
      festivalId, announcement.title, announcement.content, announcement.isPinned);
  co_return Announcement{rows[0][0].as<std::int64_t>(), announcement.title, announcement.content,
                         announcement.isPinned, rows[0][1].as<std::string>()};
}

drogon::Task<> LabWrites::pin(Sql& sql, std::int64_t festivalId, std::int64_t id) const {
  co_await requireRoomForPin(sql, festivalId);
  co_await sql.execSqlCoro(
      "UPDATE announcements SET is_pinned = true, pin_slot = NULL, unguarded = true"
      " WHERE id = $1 AND deleted_at IS NULL",
      id);
}

drogon::Task<Reservation> LabWrites::sell(Sql& sql, SeatSale& sale) const {
  const StoredRow seat = co_await sale.explainRefusal(sql);
  const auto rows = co_await sql.execSqlCoro(
      "WITH sale AS (INSERT INTO reservations (user_id, seat_id, performance_id, unguarded)"
      " VALUES ($1, $2, $3, true) RETURNING id, reserved_at)"
      " SELECT sale.id, $2::bigint, u.login, u.name, " FESTA_LOCAL_TIME(
          "sale.reserved_at") " FROM sale, users u WHERE u.id = $1",
      sale.userId(), seat.id, sale.seat().performanceId);
  co_await sql.execSqlCoro("UPDATE seats SET is_reserved = true WHERE id = $1", seat.id);
  co_return sale.saleIn(rows[0]);
}

drogon::Task<CouponClaim> LabWrites::grant(Sql& sql, const CouponGrant& grant) const {
  const auto state = co_await grant.read(sql);
  co_await requireNoUnguardedClaim(sql, grant);
  const auto sequence = state.granted + 1;
  const auto remaining = state.remaining - 1;
  const auto inserted = co_await sql.execSqlCoro(
      "INSERT INTO coupon_claims (coupon_id, user_id, state, sequence, one_per_user, unguarded)"
      " VALUES ($1, $2, 'DONE', $3, $4, true) RETURNING id",
      grant.couponId(), grant.userId(), sequence, state.onePerUser);
  co_await sql.execSqlCoro("UPDATE coupons SET granted = $1, remaining = $2 WHERE id = $3",
                           sequence, remaining, grant.couponId());
  co_return CouponClaim{inserted[0][0].as<std::int64_t>(), sequence, remaining};
}

drogon::Task<EventDates::Row> LabWrites::addDate(Sql& sql, std::int64_t festivalId,
                                                 const std::string& date) const {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO event_dates (festival_id, date, unguarded) VALUES ($1, $2::text::date, true)"
      " RETURNING id, date::text",
      festivalId, date);
  co_return EventDates::read(rows[0]);
}

drogon::Task<> LabWrites::changeDate(Sql& sql, std::int64_t id, const std::string& date) const {
  co_await sql.execSqlCoro(
      "UPDATE event_dates SET date = $1::text::date, unguarded = true WHERE id = $2", date, id);
}

drogon::Task<Questions::Row> LabWrites::addQuestion(Sql& sql, std::int64_t festivalId,
                                                    const Questions::Item& item,
                                                    std::int64_t sequence) const {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO questions (festival_id, question, answer, sequence, unguarded)"
      " VALUES ($1, $2, $3, $4, true) RETURNING id, question, answer, sequence",
      festivalId, item.question, item.answer, sequence);
  co_return Questions::read(rows[0]);
}

drogon::Task<> LabWrites::moveQuestions(Sql& sql, std::int64_t festivalId,
                                        const std::vector<QuestionPlace>& places) const {
  for (const auto& place : places)
    co_await sql.execSqlCoro(
        "UPDATE questions SET sequence = $3, unguarded = true WHERE id = $2 AND festival_id = $1",
        festivalId, place.questionId, place.sequence);
}

}  // namespace festa
