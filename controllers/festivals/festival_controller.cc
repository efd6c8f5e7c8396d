#include "controllers/festivals/festival_controller.h"

#include "controllers/json/json_body.h"
#include "controllers/json/json_writer.h"
#include "controllers/json/responses.h"

namespace festa {

using drogon::HttpResponsePtr;

namespace {

constexpr std::size_t kMaxName = 100;
constexpr std::size_t kMaxGuide = 1000;

void requireOrder(FieldReader& fields, const std::string& startDate, const std::string& endDate) {
  if (fields.isRight("startDate") && fields.isRight("endDate") && endDate < startDate)
    fields.reject("endDate", "시작일보다 빠를 수 없습니다.", "must not be before startDate");
}

NewFestival parseNew(const Asked& asked) {
  FieldReader fields(asked.body());
  NewFestival input{fields.text("universityName", kMaxName), fields.text("festivalName", kMaxName),
                    fields.date("startDate"), fields.date("endDate")};
  requireOrder(fields, input.startDate, input.endDate);
  fields.done();
  return input;
}

FestivalInformation parseInformation(const Asked& asked) {
  FieldReader fields(asked.body());
  FestivalInformation input{fields.text("festivalName", kMaxName), fields.date("startDate"),
                            fields.date("endDate"), fields.flag("userVisible")};
  requireOrder(fields, input.startDate, input.endDate);
  fields.done();
  return input;
}

std::string parseGuide(const Asked& asked) {
  FieldReader fields(asked.body());
  auto guide = fields.textOrEmpty("lostItemGuide", kMaxGuide);
  fields.done();
  return guide;
}

// Absent or empty: those of all universities.
std::string universityNameIn(const Asked& asked) {
  return parseText(asked.request().getParameter("universityName"), inQuery("universityName"),
                   kMaxName);
}

Answer guideAnswer(const std::string& guide) {
  JsonWriter json;
  json.beginObject().member("lostItemGuide", guide);
  return {drogon::k200OK, json.endObject().take()};
}

}  // namespace

void FestivalController::publish(RoutePublisher& routes) const {
  using Self = FestivalController;
  routes.add(*this,
             {.method = drogon::Post, .path = "/festivals", .access = kAdmins, .takesBody = true},
             parseNew, &Self::create);
  routes.add(*this, {.method = drogon::Get, .path = "/festivals", .access = kAnyone}, festivalIdIn,
             &Self::show);
  routes.add(*this,
             {.method = drogon::Patch,
              .path = "/festivals/information",
              .access = kCouncils,
              .takesBody = true},
             parseInformation, &Self::setInformation);
  routes.add(*this,
             {.method = drogon::Get, .path = "/festivals/lost-item-guide", .access = kAnyone},
             festivalIdIn, &Self::showGuide);
  routes.add(*this,
             {.method = drogon::Patch,
              .path = "/festivals/lost-item-guide",
              .access = kCouncils,
              .takesBody = true},
             parseGuide, &Self::setGuide);
  routes.add(*this,
             {.method = drogon::Get,
              .path = "/festivals/universities",
              .access = kAnyone,
              .paged = Paged::kWhole},
             universityNameIn, &Self::listUniversities);
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

drogon::Task<HttpResponsePtr> FestivalController::setInformation(
    const Call<FestivalInformation>& call) const {
  const auto& input = call.input;
  const auto answer = [input](std::int64_t id) {
    JsonWriter json;
    json.beginObject()
        .member("festivalId", id)
        .member("festivalName", input.festivalName)
        .member("startDate", input.startDate)
        .member("endDate", input.endDate)
        .member("userVisible", input.userVisible);
    return Answer{drogon::k200OK, json.endObject().take()};
  };
  const auto receipt = receiptFor<std::int64_t>(call.context, answer);
  const auto id =
      co_await service_.setInformation(festivalOf(call.caller()), input, receipt.wanted());
  co_return toResponse(answer(id));
}

drogon::Task<HttpResponsePtr> FestivalController::showGuide(const Call<std::int64_t>& call) const {
  const auto guide = co_await service_.lostItemGuide(call.input);
  co_return toResponse(guideAnswer(guide));
}

drogon::Task<HttpResponsePtr> FestivalController::setGuide(const Call<std::string>& call) const {
  const auto receipt = receiptFor<std::string>(call.context, guideAnswer);
  const auto guide =
      co_await service_.setLostItemGuide(festivalOf(call.caller()), call.input, receipt.wanted());
  co_return toResponse(guideAnswer(guide));
}

drogon::Task<HttpResponsePtr> FestivalController::listUniversities(
    const Call<std::string>& call) const {
  const auto festivals = co_await service_.visibleAt(call.input);
  JsonWriter json;
  json.beginArray();
  for (const auto& festival : festivals)
    json.beginObject()
        .member("festivalId", festival.id)
        .member("universityName", festival.data.universityName)
        .member("festivalName", festival.data.festivalName)
        .member("startDate", festival.data.startDate)
        .member("endDate", festival.data.endDate)
        .endObject();
  co_return jsonResponse(drogon::k200OK, json.endArray().take());
}

}  // namespace festa
