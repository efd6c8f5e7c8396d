#include "services/coupons/coupon_grant.h"

namespace festa {

namespace {

// A user whose row is locked is passed over: the check of the foreign key would wait for it with
// the coupon's row locked, and all who want this coupon with it.
std::string singleGrantStatement(bool fenced) {
  const std::string set = fenced ? ", fence = $3" : "";
  const std::string where = fenced ? " AND c.fence < $3" : "";
  return "WITH coupon AS (UPDATE coupons c SET remaining = remaining - 1, granted = granted + 1" +
         set +
         " FROM (SELECT id FROM users WHERE id = $2 FOR KEY SHARE SKIP LOCKED) u"
         " WHERE c.id = $1 AND c.remaining > 0" +
         where +
         " AND NOT (c.one_per_user AND EXISTS (SELECT 1 FROM coupon_claims"
         " WHERE coupon_id = $1 AND user_id = $2 AND state <> 'FAILED'"
         " AND one_per_user AND NOT unguarded))"
         " RETURNING c.granted, c.remaining, c.one_per_user),"
         " claim AS (INSERT INTO coupon_claims"
         " (coupon_id, user_id, state, sequence, one_per_user, fence)"
         " SELECT $1, $2, 'DONE', granted, one_per_user, " +
         std::string(fenced ? "$3" : "NULL::bigint") +
         " FROM coupon RETURNING id)"
         " SELECT claim.id, coupon.granted, coupon.remaining FROM claim, coupon";
}

std::optional<CouponClaim> claimIn(const drogon::orm::Result& rows) {
  if (rows.empty()) return std::nullopt;
  return CouponClaim{rows[0][0].as<std::int64_t>(), rows[0][1].as<std::int64_t>(),
                     rows[0][2].as<std::int64_t>()};
}

}  // namespace

const GuardedTable& CouponGrant::table() const {
  static const GuardedTable table = guardedTable("coupons", ErrorCode::kCouponNotFound);
  return table;
}

drogon::Task<std::optional<CouponClaim>> CouponGrant::grant(
    SqlClient& sql, std::optional<std::int64_t> fence) const {
  static const std::string kFenced = singleGrantStatement(true);
  static const std::string kUnfenced = singleGrantStatement(false);
  if (fence) {
    const auto rows = co_await sql.execSqlCoro(kFenced, couponId_, userId_, *fence);
    co_return claimIn(rows);
  }
  const auto rows = co_await sql.execSqlCoro(kUnfenced, couponId_, userId_);
  co_return claimIn(rows);
}

drogon::Task<std::optional<CouponClaim>> CouponGrant::execute(SqlClient& sql,
                                                              std::optional<std::int64_t> fence) {
  fence_ = fence.value_or(0);
  try {
    co_return co_await grant(sql, fence);
  } catch (const drogon::orm::DrogonDbException& error) {
    if (!violates(error, "coupon_claims_once")) throw;
  }
  throw ServiceError(ErrorCode::kAlreadyClaimed);
}

drogon::Task<CouponGrant::State> CouponGrant::read(SqlClient& sql) const {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT c.remaining, c.fence, c.granted, c.one_per_user,"
      " EXISTS (SELECT 1 FROM users WHERE id = $2),"
      " c.one_per_user AND EXISTS (SELECT 1 FROM coupon_claims"
      " WHERE coupon_id = $1 AND user_id = $2 AND state <> 'FAILED'"
      " AND one_per_user AND NOT unguarded)"
      " FROM coupons c WHERE c.id = $1",
      couponId_, userId_);
  if (rows.empty()) throw ServiceError(ErrorCode::kCouponNotFound);
  const auto row = rows[0];
  if (!row[4].as<bool>()) throw ServiceError(ErrorCode::kUserNotFound);
  if (row[5].as<bool>()) throw ServiceError(ErrorCode::kAlreadyClaimed);
  if (row[0].as<std::int64_t>() <= 0) throw ServiceError(ErrorCode::kCouponSoldOut);
  co_return State{row[0].as<std::int64_t>(), row[1].as<std::int64_t>(), row[2].as<std::int64_t>(),
                  row[3].as<bool>()};
}

drogon::Task<StoredRow> CouponGrant::explainRefusal(SqlClient& sql) {
  const State state = co_await read(sql);
  co_return StoredRow{couponId_, state.fence};
}

drogon::Task<std::int64_t> CouponGrant::rowId(SqlClient&) {
  co_return couponId_;
}

// By its own fence: others that hold the key together may have granted since, to the same user,
// too.
drogon::Task<std::optional<CouponClaim>> CouponGrant::readBack(SqlClient& sql) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT claim.id, claim.sequence, c.remaining + c.granted - claim.sequence FROM coupons c"
      " JOIN coupon_claims claim ON claim.coupon_id = c.id AND NOT claim.unguarded"
      " AND claim.sequence > c.granted - 10000 AND claim.sequence <= c.granted"
      " WHERE c.id = $1 AND claim.user_id = $2 AND claim.fence = $3 AND claim.ordinal IS NULL",
      couponId_, userId_, fence_);
  co_return claimIn(rows);
}

}  // namespace festa
