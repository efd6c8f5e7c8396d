#include "controllers/coupon_controller.h"

#include "controllers/claim_json.h"
#include "controllers/json_body.h"
#include "controllers/json_writer.h"
#include "controllers/responses.h"

namespace festa {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

const lock::Lockable kCoupons{
    .name = "coupons",
    .key = "coupon:{path.id}",
};

namespace {

constexpr std::size_t kMaxName = 100;
constexpr std::int64_t kMaxStock = 1'000'000'000;

std::any parseNew(const HttpRequestPtr&, const RequestContext& context) {
  FieldReader fields(context.body);
  const NewCoupon input{fields.text("name", kMaxName), fields.number("stock", 1, kMaxStock),
                        fields.flag("onePerUser")};
  fields.done();
  return input;
}

std::any parsePathId(const HttpRequestPtr&, const RequestContext& context) {
  return parseId(context.route.parameters.at("id"), "coupon id");
}

std::any parseClaimId(const HttpRequestPtr&, const RequestContext& context) {
  return parseId(context.route.parameters.at("claimId"), "claim id");
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

void CouponController::publish(Endpoints& endpoints) const {
  endpoints.add({.method = drogon::Post,
                 .path = "/coupons",
                 .access = kAdmins,
                 .takesBody = true,
                 .parse = parseNew,
                 .handle = [this](HttpRequestPtr request) { return create(std::move(request)); }});
  endpoints.add({.method = drogon::Get,
                 .path = "/coupons/{id}",
                 .access = kAnyone,
                 .parse = parsePathId,
                 .handle = [this](HttpRequestPtr request) { return show(std::move(request)); }});
  endpoints.add({.method = drogon::Post,
                 .path = "/coupons/{id}/claims",
                 .access = kUsers,
                 .parse = parsePathId,
                 .lock = &kCoupons,
                 .handle = [this](HttpRequestPtr request) { return claim(std::move(request)); }});
  endpoints.add(
      {.method = drogon::Get,
       .path = "/coupons/claims/{claimId}",
       .access = kUsers,
       .parse = parseClaimId,
       .handle = [this](HttpRequestPtr request) { return showClaim(std::move(request)); }});
  endpoints.add(
      {.method = drogon::Get,
       .path = "/coupons/claims/{claimId}/events",
       .access = kUsers,
       .parse = parseClaimId,
       .handle = [this](HttpRequestPtr request) { return claimEvents(std::move(request)); }});
}

drogon::Task<HttpResponsePtr> CouponController::create(HttpRequestPtr request) const {
  const auto answer = [](const Coupon& coupon) {
    return Answer{drogon::k201Created, render(coupon)};
  };
  const auto receipt = receiptOf<Coupon>(request, answer);
  const auto coupon = co_await services_.coupons->create(inputOf<NewCoupon>(request), receipt);
  co_return toResponse(answer(coupon));
}

drogon::Task<HttpResponsePtr> CouponController::show(HttpRequestPtr request) const {
  const auto coupon = co_await services_.coupons->find(inputOf<std::int64_t>(request));
  co_return jsonResponse(drogon::k200OK, render(coupon));
}

drogon::Task<HttpResponsePtr> CouponController::claim(HttpRequestPtr request) const {
  const auto queue = services_.queueOf(request);
  if (queue) co_return co_await enqueue(request, queue);
  const auto guard = guardOf_(request);
  const auto answer = [](const CouponClaim& claim) {
    JsonWriter json;
    json.beginObject()
        .member("claimId", claim.id)
        .member("state", "DONE")
        .member("sequence", claim.sequence)
        .member("remaining", claim.remaining);
    return Answer{drogon::k201Created, json.endObject().take()};
  };
  const auto receipt = receiptOf<CouponClaim>(request, answer);
  const auto claim = co_await services_.coupons->claim(
      inputOf<std::int64_t>(request), contextOf(request).caller->uid, guard, receipt);
  co_return toResponse(answer(claim));
}

drogon::Task<HttpResponsePtr> CouponController::enqueue(HttpRequestPtr request,
                                                        std::shared_ptr<ClaimQueue> queue) const {
  const auto answer = [](const AcceptedClaim& claim) {
    JsonWriter json;
    json.beginObject()
        .member("claimId", claim.id)
        .member("state", "NEW")
        .member("ahead", claim.ahead);
    return Answer{drogon::k202Accepted, json.endObject().take(),
                  "/coupons/claims/" + std::to_string(claim.id)};
  };
  const auto receipt = receiptOf<AcceptedClaim>(request, answer);
  const auto accepted = co_await queue->accept(inputOf<std::int64_t>(request),
                                               contextOf(request).caller->uid, receipt);
  co_return toResponse(answer(accepted));
}

drogon::Task<ClaimView> CouponController::ownClaim(HttpRequestPtr request) const {
  auto claim = co_await services_.claims->find(inputOf<std::int64_t>(request));
  if (claim.userId != contextOf(request).caller->uid)
    throw ServiceError(ErrorCode::kForbidden, "another user's claim");
  co_return claim;
}

drogon::Task<HttpResponsePtr> CouponController::showClaim(HttpRequestPtr request) const {
  const auto claim = co_await ownClaim(request);
  co_return jsonResponse(drogon::k200OK, render(claim));
}

drogon::Task<HttpResponsePtr> CouponController::claimEvents(HttpRequestPtr request) const {
  const auto claim = co_await ownClaim(request);
  co_return services_.streams->open(request, claim, contextOf(request).caller->expiresAt);
}

}  // namespace festa
