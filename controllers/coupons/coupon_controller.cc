#include "controllers/coupons/coupon_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/json/responses.h"

namespace festa {

using drogon::HttpResponsePtr;

const lock::Lockable kCoupons{
    .name = "coupons",
    .key = "coupon:{path.id}",
    .together = 64,
};

namespace {

constexpr std::size_t kMaxName = 100;
constexpr std::int64_t kMaxStock = 1'000'000'000;

NewCoupon parseNew(const Asked& asked) {
  FieldReader fields(asked.body());
  NewCoupon input{fields.text("name", kMaxName), fields.number("stock", 1, kMaxStock),
                  fields.flag("onePerUser")};
  fields.done();
  return input;
}

std::int64_t parsePathId(const Asked& asked) {
  return asked.pathId("id");
}

std::int64_t parseClaimId(const Asked& asked) {
  return asked.pathId("claimId");
}

std::string render(const Coupon& coupon) {
  JsonWriter json;
  json.beginObject()
      .member("couponId", coupon.id)
      .member("name", coupon.data.name)
      .member("stock", coupon.data.stock)
      .member("remaining", coupon.remaining)
      .member("onePerUser", coupon.data.onePerUser);
  return json.endObject().take();
}

}  // namespace

void CouponController::publish(RoutePublisher& routes) const {
  using Self = CouponController;
  routes.add(*this,
             {.method = drogon::Post, .path = "/coupons", .access = kAdmins, .takesBody = true},
             parseNew, &Self::create);
  routes.add(*this, {.method = drogon::Get, .path = "/coupons/{id}", .access = kAnyone},
             parsePathId, &Self::show);
  routes
      .addLocked(*this, {.method = drogon::Post, .path = "/coupons/{id}/claims", .access = kUsers},
                 kCoupons, {}, parsePathId, &Self::claim)
      .queueWith(&Self::enqueue);
  routes.add(*this, {.method = drogon::Get, .path = "/coupons/claims/{claimId}", .access = kUsers},
             parseClaimId, &Self::showClaim);
  routes.add(*this,
             {.method = drogon::Get, .path = "/coupons/claims/{claimId}/events", .access = kUsers},
             parseClaimId, &Self::claimEvents);
}

drogon::Task<HttpResponsePtr> CouponController::create(const Call<NewCoupon>& call) const {
  const auto answer = [](const Coupon& coupon) {
    return Answer{drogon::k201Created, render(coupon)};
  };
  const auto receipt = receiptFor<Coupon>(call.context, answer);
  const auto coupon = co_await coupons_.create(call.input, receipt.wanted());
  co_return toResponse(answer(coupon));
}

drogon::Task<HttpResponsePtr> CouponController::show(const Call<std::int64_t>& call) const {
  const auto coupon = co_await coupons_.find(call.input);
  co_return jsonResponse(drogon::k200OK, render(coupon));
}

drogon::Task<HttpResponsePtr> CouponController::claim(const Call<std::int64_t>& call,
                                                      WriteGuard& guard) const {
  const auto answer = [](const CouponClaim& claim) {
    JsonWriter json;
    json.beginObject()
        .member("claimId", claim.id)
        .member("state", "DONE")
        .member("sequence", claim.sequence)
        .member("remaining", claim.remaining);
    return Answer{drogon::k201Created, json.endObject().take()};
  };
  const auto receipt = receiptFor<CouponClaim>(call.context, answer);
  const auto claim =
      co_await coupons_.claim(call.input, call.caller().uid, guard, receipt.wanted());
  co_return toResponse(answer(claim));
}

drogon::Task<HttpResponsePtr> CouponController::enqueue(const Call<std::int64_t>& call,
                                                        ClaimQueue& queue) const {
  const auto answer = [](const AcceptedClaim& claim) {
    JsonWriter json;
    json.beginObject()
        .member("claimId", claim.id)
        .member("state", "NEW")
        .member("ahead", claim.ahead);
    return Answer{drogon::k202Accepted, json.endObject().take(),
                  "/coupons/claims/" + std::to_string(claim.id)};
  };
  const auto receipt = receiptFor<AcceptedClaim>(call.context, answer);
  const auto accepted = co_await queue.accept(call.input, call.caller().uid, receipt.wanted());
  co_return toResponse(answer(accepted));
}

drogon::Task<ClaimView> CouponController::ownClaim(const Call<std::int64_t>& call) const {
  auto claim = co_await claims_.find(call.input);
  if (claim.userId != call.caller().uid)
    throw ServiceError(ErrorCode::kForbidden, "another user's claim");
  co_return claim;
}

drogon::Task<HttpResponsePtr> CouponController::showClaim(const Call<std::int64_t>& call) const {
  const auto claim = co_await ownClaim(call);
  co_return jsonResponse(drogon::k200OK, render(claim));
}

drogon::Task<HttpResponsePtr> CouponController::claimEvents(const Call<std::int64_t>& call) const {
  const auto claim = co_await ownClaim(call);
  if (feed_.isClosed()) throw ServiceError(ErrorCode::kShuttingDown);
  const auto begin = [&feed = feed_, claim,
                      expiresAt = call.caller().expiresAt](std::unique_ptr<EventSink> sink) {
    feed.add(claim, expiresAt, std::move(sink));
  };
  co_return eventStream(call.request, places_.take(*call.request, claim.userId), eventOf(claim),
                        begin);
}

}  // namespace festa
