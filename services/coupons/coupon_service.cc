#include "services/coupons/coupon_service.h"

#include "services/coupons/coupon_grant.h"
#include "services/coupons/shared_grant.h"

namespace festa {

namespace {

drogon::Task<Coupon> insertCoupon(Sql& sql, const NewCoupon& coupon) {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO coupons (name, stock, remaining, one_per_user) VALUES ($1, $2, $2, $3)"
      " RETURNING id",
      coupon.name, coupon.stock, coupon.onePerUser);
  co_return Coupon{rows[0][0].as<std::int64_t>(), coupon, coupon.stock};
}

}  // namespace

drogon::Task<Coupon> CouponService::create(NewCoupon coupon, const Receipt<Coupon>* receipt) const {
  auto write = [&](Sql& sql) { return insertCoupon(sql, coupon); };
  co_return co_await plainWrite(database_, write, receipt);
}

drogon::Task<Coupon> CouponService::find(std::int64_t id) const {
  const auto rows = co_await database_.client()->execSqlCoro(
      "SELECT name, stock, one_per_user, remaining FROM coupons WHERE id = $1", id);
  if (rows.empty()) throw ServiceError(ErrorCode::kCouponNotFound);
  const auto row = rows[0];
  co_return Coupon{id,
                   {row[0].as<std::string>(), row[1].as<std::int64_t>(), row[2].as<bool>()},
                   row[3].as<std::int64_t>()};
}

drogon::Task<CouponClaim> CouponService::claim(std::int64_t couponId, std::int64_t userId,
                                               WriteGuard& guard,
                                               const Receipt<CouponClaim>* receipt) const {
  CouponGrant grant(couponId, userId);
  co_return co_await claimBy(grant, guard, receipt);
}

drogon::Task<CouponClaim> CouponService::claimBy(CouponGrant& grant, WriteGuard& guard,
                                                 const Receipt<CouponClaim>* receipt) const {
  SharedGrant shared(database_, grant, guard, receipt, counts_);
  auto together = [&] { return shared.run(); };
  co_return co_await guardedStatement(database_, guard, grant, receipt, together);
}

}  // namespace festa
