#include "controllers/coupon_controller.h"

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
}

drogon::Task<HttpResponsePtr> CouponController::create(HttpRequestPtr request) const {
  const auto answer = [](const Coupon& coupon) {
    return Answer{drogon::k201Created, render(coupon)};
  };
  const auto receipt = receiptOf<Coupon>(request, answer);
  const auto coupon = co_await service_->create(inputOf<NewCoupon>(request), receipt);
  co_return toResponse(answer(coupon));
}

drogon::Task<HttpResponsePtr> CouponController::show(HttpRequestPtr request) const {
  const auto coupon = co_await service_->find(inputOf<std::int64_t>(request));
  co_return jsonResponse(drogon::k200OK, render(coupon));
}

drogon::Task<HttpResponsePtr> CouponController::claim(HttpRequestPtr request) const {
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
  const auto claim = co_await service_->claim(inputOf<std::int64_t>(request),
                                              contextOf(request).caller->uid, guard, receipt);
  co_return toResponse(answer(claim));
}

}  // namespace festa
