// The grant of one unit of a coupon, as one statement on the coupon's row.
#pragma once

#include "services/coupons/coupon_service.h"
#include "services/write/guarded_write.h"

namespace festa {

// Lives in the coroutine that grants. Whether a user has claimed before is not in the coupon's row;
// if the statement did not see it because it waited, a unique index refuses the second claim.
class CouponGrant : public AtomicWrite<CouponClaim> {
 public:
  CouponGrant(std::int64_t couponId, std::int64_t userId) : couponId_(couponId), userId_(userId) {}

  const GuardedTable& table() const override;
  drogon::Task<std::optional<CouponClaim>> execute(SqlClient& sql,
                                                   std::optional<std::int64_t> fence) override;
  drogon::Task<StoredRow> explainRefusal(SqlClient& sql) override;
  drogon::Task<std::int64_t> rowId(SqlClient& sql) override;
  drogon::Task<std::optional<CouponClaim>> readBack(SqlClient& sql) override;

  std::int64_t couponId() const { return couponId_; }
  std::int64_t userId() const { return userId_; }

  // All from one moment.
  struct State {
    std::int64_t remaining;
    std::int64_t fence;
    std::int64_t granted;
    bool onePerUser;
  };

  // Throws the ServiceError of the rule that is against a grant.
  drogon::Task<State> read(SqlClient& sql) const;

 private:
  drogon::Task<std::optional<CouponClaim>> grant(SqlClient& sql,
                                                 std::optional<std::int64_t> fence) const;

  const std::int64_t couponId_;
  const std::int64_t userId_;
  std::int64_t fence_ = 0;  // of the last execute(); 0: none
};

}  // namespace festa
