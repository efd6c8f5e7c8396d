// Coupons: a stock given out first come, first served.
#pragma once

#include "services/write/database.h"
#include "services/write/shared_transaction.h"

#include <string>

namespace festa {

struct NewCoupon {
  std::string name;
  std::int64_t stock = 0;
  bool onePerUser = false;
};

struct Coupon {
  std::int64_t id = 0;
  NewCoupon data;
  std::int64_t remaining = 0;
};

// A unit given: the sequence numbers of a coupon are dense and in the order of the grants.
struct CouponClaim {
  std::int64_t id = 0;
  std::int64_t sequence = 0;
  std::int64_t remaining = 0;  // after this one
};

class CouponGrant;

// Thread-safe.
class CouponService {
 public:
  explicit CouponService(const Database& database) : database_(database) {}
  virtual ~CouponService() = default;

  drogon::Task<Coupon> create(NewCoupon coupon, const Receipt<Coupon>* receipt = nullptr) const;
  // Throws ServiceError(kCouponNotFound).
  drogon::Task<Coupon> find(std::int64_t id) const;
  // Throws ServiceError: kCouponNotFound, kUserNotFound, kCouponSoldOut, kAlreadyClaimed, and what
  // guardedWrite throws.
  virtual drogon::Task<CouponClaim> claim(std::int64_t couponId, std::int64_t userId,
                                          WriteGuard& guard,
                                          const Receipt<CouponClaim>* receipt = nullptr) const;

  // Of claims that were granted together.
  const SharedCounts& counts() const { return counts_; }

 protected:
  // claim() by this grant.
  drogon::Task<CouponClaim> claimBy(CouponGrant& grant, WriteGuard& guard,
                                    const Receipt<CouponClaim>* receipt) const;

 private:
  const Database& database_;
  mutable SharedCounts counts_;
};

}  // namespace festa
