// Coupons over HTTP.
#pragma once

#include "controllers/endpoints.h"
#include "controllers/guard_factory.h"
#include "services/coupon_service.h"

namespace festa {

// Claims of one coupon come one after the other.
extern const lock::Lockable kCoupons;

class CouponController {
 public:
  CouponController(std::shared_ptr<CouponService> service, GuardFactory guardOf)
      : service_(std::move(service)), guardOf_(std::move(guardOf)) {}

  // The controller must outlive the application's run.
  void publish(Endpoints& endpoints) const;

 private:
  drogon::Task<drogon::HttpResponsePtr> create(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> show(drogon::HttpRequestPtr request) const;
  drogon::Task<drogon::HttpResponsePtr> claim(drogon::HttpRequestPtr request) const;

  const std::shared_ptr<CouponService> service_;
  const GuardFactory guardOf_;
};

}  // namespace festa
