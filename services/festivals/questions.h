// Questions that a festival's visitors often ask, in the order that its council wants.
#pragma once

#include "services/festivals/festival_items.h"
#include "services/write/guarded_write.h"

namespace festa {

struct Questions : FestivalKind {
  struct Item {
    std::string question;
    std::string answer;
  };
  struct Row {
    std::int64_t id = 0;
    Item item;
    std::int64_t sequence = 0;
  };

  static const FestivalTable& table();
  static auto values(const Item& item) { return std::tie(item.question, item.answer); }
  static Row read(const drogon::orm::Row& row);
};

struct QuestionPlace {
  std::int64_t questionId;
  std::int64_t sequence;  // not below 0
};

// Listed by sequence, which no two questions of a festival share. Creates and reorderings of one
// festival must be protected by the same guard.
class QuestionService : public FestivalItems<Questions> {
 public:
  using FestivalItems::FestivalItems;
  virtual ~QuestionService() = default;

  // Behind all others: the largest sequence + 1.
  drogon::Task<Questions::Row> create(std::int64_t festivalId, Questions::Item item,
                                      WriteGuard& guard,
                                      const Receipt<Questions::Row>* receipt = nullptr) const;

  // Every question of the festival, each once and each with a sequence of its own; else
  // ServiceError(kValidationFailed), kQuestionNotFound or kQuestionNotInFestival. Returns them by
  // sequence.
  using Places = std::vector<QuestionPlace>;
  drogon::Task<Places> reorder(std::int64_t festivalId, Places places, WriteGuard& guard,
                               const Receipt<Places>* receipt = nullptr) const;

 protected:
  // Steps of create() and reorder(), in their transaction, whose guard is open.
  // nullopt: a concurrent writer has taken the sequence.
  virtual drogon::Task<std::optional<Questions::Row>> insertAt(Sql& sql, std::int64_t festivalId,
                                                               const Questions::Item& item,
                                                               std::int64_t sequence,
                                                               const WriteGuard& guard) const;
  // `places` names every question of the festival.
  virtual drogon::Task<> moveAll(Sql& sql, std::int64_t festivalId, const Places& places,
                                 const WriteGuard& guard) const;

 private:
  drogon::Task<Questions::Row> insertLast(Sql& sql, std::int64_t festivalId,
                                          const Questions::Item& item,
                                          const WriteGuard& guard) const;
  drogon::Task<Places> checkAndMove(Sql& sql, std::int64_t festivalId, const Places& places,
                                    const WriteGuard& guard) const;
};

}  // namespace festa
