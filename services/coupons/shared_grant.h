// Grants of one coupon to all that hold its key together, in one statement and one commit.
#pragma once

#include "services/coupons/coupon_grant.h"
#include "services/write/shared_transaction.h"

namespace festa {

// The first attempt of a grant, see guardedStatement(). One of the holders grants to all of them in
// the order of their arrival: numbers without a gap, one per user where the coupon says so, sold
// out at the exact place. The coupon stores the largest fence of the holders; each claim stores it
// with its place, by which it is found again when the acknowledgement was lost: an equal fence says
// only that the transaction has committed. A holder that is alone grants as ever. Lives in the
// coroutine that grants.
class SharedGrant {
 public:
  // All outlive it. The guard has a hold and a fence. `receipt` may be null.
  SharedGrant(const Database& database, CouponGrant& grant, WriteGuard& guard,
              const Receipt<CouponClaim>* receipt, SharedCounts& counts)
      : database_(database), grant_(grant), guard_(guard), receipt_(receipt), counts_(counts) {}

  // The claim, or nullopt: nothing is stored for it. Throws CommitUnknown, and ServiceError as
  // inTransaction() does.
  drogon::Task<std::optional<CouponClaim>> run();

 private:
  struct Member;
  using Members = std::vector<Member*>;
  struct Write;

  drogon::Task<bool> writeFor(Members members) const;
  drogon::Task<> write(Members members) const;
  drogon::Task<> resolveLostAnswer(Members members) const;
  drogon::Task<bool> readBack(Members members) const;  // true

  const Database& database_;
  CouponGrant& grant_;
  WriteGuard& guard_;
  const Receipt<CouponClaim>* const receipt_;
  SharedCounts& counts_;
};

}  // namespace festa
