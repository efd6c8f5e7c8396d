#include "controllers/festival_controller.h"

#include "controllers/festival_header.h"
#include "controllers/json_body.h"
#include "controllers/json_writer.h"
#include "controllers/responses.h"

namespace festa {

using drogon::HttpResponsePtr;

namespace {

constexpr std::size_t kMaxName = 100;

NewFestival parseNew(const Asked& asked) {
  FieldReader fields(asked.body());
  NewFestival input{fields.text("universityName", kMaxName), fields.text("festivalName", kMaxName),
                    fields.date("startDate"), fields.date("endDate")};
  if (fields.allRight() && input.endDate < input.startDate)
    fields.reject("endDate", "시작일보다 빠를 수 없습니다.", "must not be before startDate");
  fields.done();
  return input;
}

}  // namespace

void FestivalController::publish(Routes& routes) const {
  using Self = FestivalController;
  routes.add(*this,
             {.method = drogon::Post, .path = "/festivals", .access = kAdmins, .takesBody = true},
             parseNew, &Self::create);
  routes.add(*this, {.method = drogon::Get, .path = "/festivals", .access = kAnyone}, festivalIdIn,
             &Self::show);
}

drogon::Task<HttpResponsePtr> FestivalController::create(const Call<NewFestival>& call) const {
  const auto& input = call.input;
  const auto answer = [input](std::int64_t id) {
    JsonWriter json;
    json.beginObject()
        .member("festivalId", id)
        .member("universityName", input.universityName)
        .member("festivalName", input.festivalName)
        .member("startDate", input.startDate)
        .member("endDate", input.endDate)
        .member("userVisible", false);
    return Answer{drogon::k201Created, json.endObject().take()};
  };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  const auto id = co_await service_.create(input, receipt.wanted());
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> FestivalController::show(const Call<std::int64_t>& call) const {
  const auto festival = co_await service_.find(call.input);
  JsonWriter json;
  json.beginObject()
      .member("festivalId", festival.id)
      .member("universityName", festival.data.universityName)
      .key("festivalImages")
      .beginArray()
      .endArray()
      .member("festivalName", festival.data.festivalName)
      .member("startDate", festival.data.startDate)
      .member("endDate", festival.data.endDate)
      .member("userVisible", festival.userVisible);
  co_return jsonResponse(drogon::k200OK, json.endObject().take());
}

}  // namespace festa
