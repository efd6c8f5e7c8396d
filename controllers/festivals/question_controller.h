// Questions over HTTP.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/questions.h"

namespace festa {

// Creates and reorderings of one festival exclude each other: a create reads the largest sequence,
// a reordering changes it, and reads which questions there are.
extern const lock::Lockable kQuestions;

struct QuestionView {
  using Service = QuestionService;
  static constexpr const char* kPath = "/questions";
  static constexpr ListKind kList = ListKind::kQuestions;
  static constexpr const lock::Lockable* kCreateLock = &kQuestions;

  static Questions::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const Questions::Row& row);
  static void writeChanged(JsonWriter& json, const Questions::Row& row);
};

class QuestionController {
 public:
  QuestionController(const QuestionService& service, RenderedListCache& lists)
      : service_(service), items_(service, lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  using Places = QuestionService::Places;

  drogon::Task<drogon::HttpResponsePtr> reorder(const Call<Places>& call, WriteGuard& guard) const;
  void forgetList(const Call<Places>& call) const { items_.forgetList(call); }

  const QuestionService& service_;
  const FestivalItemController<QuestionView> items_;
};

}  // namespace festa
