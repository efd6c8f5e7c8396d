#include "controllers/festivals/question_controller.h"

#include <set>

namespace festa {

using drogon::HttpResponsePtr;

const lock::Lockable kQuestions{
    .name = "questions",
    .key = "question:{token.festivalId}",
};

namespace {

constexpr std::int64_t kLargestSequence = 1'000'000;

QuestionService::Places parsePlaces(const Asked& asked) {
  QuestionService::Places places;
  std::set<std::int64_t> ids;
  std::set<std::int64_t> sequences;
  Json::Value named;
  named["questions"] = asked.body();
  FieldReader fields(named);
  fields.each("questions", kMostItemsOfFestival, [&](FieldReader& item) {
    places.push_back({item.id("questionId"), item.number("sequence", 0, kLargestSequence)});
    if (item.isRight("questionId") && !ids.insert(places.back().questionId).second)
      item.reject("questionId", "같은 질문이 두 번 있습니다.", "must not be there twice");
    if (item.isRight("sequence") && !sequences.insert(places.back().sequence).second)
      item.reject("sequence", "같은 순서가 두 번 있습니다.", "must not be there twice");
  });
  fields.done();
  return places;
}

Answer reordered(const QuestionService::Places& places) {
  JsonWriter json;
  json.beginArray();
  for (const auto& place : places)
    json.beginObject()
        .member("questionId", place.questionId)
        .member("sequence", place.sequence)
        .endObject();
  return {drogon::k200OK, json.endArray().take()};
}

}  // namespace

Questions::Item QuestionView::parse(FieldReader& fields) {
  return {fields.text("question", 255), fields.text("answer", 3000)};
}

void QuestionView::write(JsonWriter& json, const Questions::Row& row) {
  json.beginObject()
      .member("questionId", row.id)
      .member("question", row.item.question)
      .member("answer", row.item.answer)
      .member("sequence", row.sequence)
      .endObject();
}

void QuestionView::writeChanged(JsonWriter& json, const Questions::Row& row) {
  json.beginObject()
      .member("questionId", row.id)
      .member("question", row.item.question)
      .member("answer", row.item.answer)
      .endObject();
}

void QuestionController::publish(RoutePublisher& routes) const {
  using Self = QuestionController;
  items_.publishList(routes);
  items_.publishCreate(routes);
  // Before /questions/{id}, which would fit, too.
  routes
      .addLocked(*this,
                 {.method = drogon::Patch,
                  .path = "/questions/sequences",
                  .access = kCouncils,
                  .takesBody = true,
                  .takesList = true},
                 kQuestions, {}, parsePlaces, &Self::reorder)
      .afterCommit(&Self::forgetList);
  items_.publishChange(routes);
  items_.publishRemove(routes);
}

drogon::Task<HttpResponsePtr> QuestionController::reorder(const Call<Places>& call,
                                                          WriteGuard& guard) const {
  const auto receipt = receiptFor<Places>(call.context, reordered);
  const auto places =
      co_await service_.reorder(festivalOf(call.caller()), call.input, guard, receipt.wanted());
  co_return toResponse(reordered(places));
}

}  // namespace festa
