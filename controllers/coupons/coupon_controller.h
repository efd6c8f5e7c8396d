// Coupons over HTTP.
#pragma once

#include "controllers/http/route_publisher.h"
#include "controllers/live/claim_feed.h"
#include "controllers/live/event_stream.h"
#include "services/coupons/claim_queue.h"
#include "services/coupons/coupon_service.h"

namespace festa {

// Claims of one coupon come one after the other.
extern const lock::Lockable kCoupons;

class CouponController {
 public:
  CouponController(const CouponService& coupons, const ClaimReader& claims, ClaimFeed& feed,
                   StreamPlaces& places)
      : coupons_(coupons), claims_(claims), feed_(feed), places_(places) {}

  void publish(RoutePublisher& routes) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(const Call<NewCoupon>& call) const;
  drogon::Task<drogon::HttpResponsePtr> show(const Call<std::int64_t>& call) const;
  // Granted at once, or accepted to be granted later.
  drogon::Task<drogon::HttpResponsePtr> claim(const Call<std::int64_t>& call,
                                              WriteGuard& guard) const;
  drogon::Task<drogon::HttpResponsePtr> enqueue(const Call<std::int64_t>& call,
                                                ClaimQueue& queue) const;
  drogon::Task<drogon::HttpResponsePtr> showClaim(const Call<std::int64_t>& call) const;
  drogon::Task<drogon::HttpResponsePtr> claimEvents(const Call<std::int64_t>& call) const;
  drogon::Task<ClaimView> ownClaim(const Call<std::int64_t>& call) const;

  const CouponService& coupons_;
  const ClaimReader& claims_;
  ClaimFeed& feed_;
  StreamPlaces& places_;
};

}  // namespace festa
