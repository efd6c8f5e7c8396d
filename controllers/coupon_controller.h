// Coupons over HTTP.
#pragma once

#include "controllers/claim_queue.h"
#include "controllers/claim_streams.h"
#include "controllers/endpoints.h"
#include "controllers/guard_factory.h"
#include "services/coupon_service.h"

namespace festa {

// Claims of one coupon come one after the other.
extern const lock::Lockable kCoupons;

class CouponController {
 public:
  struct Services {
    std::shared_ptr<CouponService> coupons;
    std::shared_ptr<ClaimReader> claims;
    std::shared_ptr<ClaimStreams> streams;
    // The queue that the request's strategy names; nullptr: claims are granted at once.
    std::function<std::shared_ptr<ClaimQueue>(const drogon::HttpRequestPtr&)> queueOf;
  };

  CouponController(Services services, GuardFactory guardOf)
      : services_(std::move(services)), guardOf_(std::move(guardOf)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> claim(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> enqueue(drogon::HttpRequestPtr request,
                                                std::shared_ptr<ClaimQueue> queue) const;
  drogon::Task<drogon::HttpResponsePtr> showClaim(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> claimEvents(drogon::HttpRequestPtr request) const;
  drogon::Task<ClaimView> ownClaim(drogon::HttpRequestPtr request) const;

  const Services services_;
  const GuardFactory guardOf_;
};

}  // namespace festa
