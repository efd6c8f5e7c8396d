// Questions over HTTP.
#pragma once

#include "controllers/festivals/festival_item_controller.h"
#include "services/festivals/questions.h"

namespace festa {

// Creates and reorderings of one festival exclude each other: a create reads the largest sequence,
// a reordering changes it, and reads which questions there are.
extern const lock::Lockable kQuestions;

struct QuestionView {
  using Kind = Questions;
  static constexpr const char* kPath = "/questions";
  static constexpr ListKind kList = ListKind::kQuestions;
  static constexpr bool kLocksCreate = true;

  static Questions::Item parse(FieldReader& fields);
  static void write(JsonWriter& json, const Questions::Row& row);
  static void writeChanged(JsonWriter& json, const Questions::Row& row);
};

// Outlives the routes it publishes, as what it is made of outlives it.
class QuestionController {
 public:
  QuestionController(const QuestionService& service, RenderedListCache& lists)
      : service_(service), items_(service, lists) {}

  void publish(RoutePublisher& routes) const;

 private:
  using Items = FestivalItemController<QuestionView>;
  using Places = QuestionService::Places;

  drogon::Task<drogon::HttpResponsePtr> create(const Call<Questions::Item>& call,
                                               WriteGuard& guard) const;
  drogon::Task<drogon::HttpResponsePtr> reorder(const Call<Places>& call, WriteGuard& guard) const;
  template <class Input>
  void forgetList(const Call<Input>& call) const {
    items_.forgetList(call);
  }

  const QuestionService& service_;
  const Items items_;
};

}  // namespace festa
