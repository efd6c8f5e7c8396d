#include "services/festivals/questions.h"

#include "services/write/sql_array.h"

#include <algorithm>
#include <set>

namespace festa {

namespace {

using Places = QuestionService::Places;

const GuardedTable& guardedQuestions() {
  static const GuardedTable table =
      guardedTable("festivals", ErrorCode::kFestivalNotFound, "question_");
  return table;
}

drogon::Task<std::int64_t> largestSequence(Sql& sql, std::int64_t festivalId) {
  const auto rows = co_await sql.execSqlCoro(
      "SELECT coalesce(max(sequence), 0) FROM questions WHERE festival_id = $1", festivalId);
  co_return rows[0][0].as<std::int64_t>();
}

ServiceError notAllNamed() {
  return ServiceError(std::vector<FieldError>{{"questions", "축제의 모든 질문을 포함해야 합니다.",
                                               "must name every question of the festival"}});
}

drogon::Task<> requireAllNamed(Sql& sql, std::int64_t festivalId, const Places& places) {
  // Locked in one order, so that two reorderings do not wait for each other.
  const auto rows = co_await sql.execSqlCoro(
      "SELECT id FROM questions WHERE festival_id = $1 ORDER BY id FOR NO KEY UPDATE", festivalId);
  std::set<std::int64_t> left;
  for (const auto& row : rows) left.insert(row[0].as<std::int64_t>());
  for (const auto& place : places) {
    const bool isKnown = left.erase(place.questionId) == 1;
    if (isKnown) continue;
    co_await requireOwned(sql, Questions::table(), festivalId, place.questionId);
    throw notAllNamed();  // it was added since
  }
  if (!left.empty()) throw notAllNamed();
}

}  // namespace

const FestivalTable& Questions::table() {
  static const auto table = festivalTable({.table = "questions",
                                           .written = {{"question", "text"}, {"answer", "text"}},
                                           .read = "id, question, answer, sequence",
                                           .order = "sequence, id",
                                           .missing = ErrorCode::kQuestionNotFound,
                                           .foreign = ErrorCode::kQuestionNotInFestival});
  return table;
}

Questions::Row Questions::read(const drogon::orm::Row& row) {
  return {row[0].as<std::int64_t>(),
          {row[1].as<std::string>(), row[2].as<std::string>()},
          row[3].as<std::int64_t>()};
}

drogon::Task<std::optional<Questions::Row>> QuestionService::insertAt(Sql& sql,
                                                                      std::int64_t festivalId,
                                                                      const Questions::Item& item,
                                                                      std::int64_t sequence,
                                                                      const WriteGuard&) const {
  const auto rows = co_await sql.execSqlCoro(
      "INSERT INTO questions (festival_id, question, answer, sequence)"
      " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
      " RETURNING id, question, answer, sequence",
      festivalId, item.question, item.answer, sequence);
  if (rows.empty()) co_return std::nullopt;
  co_return Questions::read(rows[0]);
}

drogon::Task<Questions::Row> QuestionService::insertLast(Sql& sql, std::int64_t festivalId,
                                                         const Questions::Item& item,
                                                         const WriteGuard& guard) const {
  co_await requireRoom(sql, Questions::table(), festivalId);
  // A concurrent writer may take the sequence first. Then nothing is inserted, and the next one is
  // tried; each repetition means that another writer has committed.
  while (true) {
    const auto largest = co_await largestSequence(sql, festivalId);
    auto row = co_await insertAt(sql, festivalId, item, largest + 1, guard);
    if (row) co_return std::move(*row);
  }
}

// In two steps, because a sequence is unique at every moment: all of them below 0, then back.
drogon::Task<> QuestionService::moveAll(Sql& sql, std::int64_t festivalId, const Places& places,
                                        const WriteGuard&) const {
  SqlArray ids;
  SqlArray sequences;
  for (const auto& place : places) {
    ids.add(place.questionId);
    sequences.add(place.sequence);
  }
  co_await sql.execSqlCoro(
      "UPDATE questions SET sequence = -1 - place.sequence, unguarded = false"
      " FROM unnest($2::text::bigint[], $3::text::bigint[]) AS place (id, sequence)"
      " WHERE questions.id = place.id AND festival_id = $1",
      festivalId, ids.take(), sequences.take());
  co_await sql.execSqlCoro(
      "UPDATE questions SET sequence = -1 - sequence WHERE festival_id = $1 AND sequence < 0",
      festivalId);
}

drogon::Task<Places> QuestionService::checkAndMove(Sql& sql, std::int64_t festivalId,
                                                   const Places& places,
                                                   const WriteGuard& guard) const {
  co_await requireAllNamed(sql, festivalId, places);
  co_await moveAll(sql, festivalId, places, guard);
  Places moved = places;
  std::sort(moved.begin(), moved.end(),
            [](const QuestionPlace& a, const QuestionPlace& b) { return a.sequence < b.sequence; });
  co_return moved;
}

drogon::Task<Questions::Row> QuestionService::create(std::int64_t festivalId, Questions::Item item,
                                                     WriteGuard& guard,
                                                     const Receipt<Questions::Row>* receipt) const {
  auto write = [&](Sql& sql) { return insertLast(sql, festivalId, item, guard); };
  const GuardedRow questions{guardedQuestions(), festivalId};
  co_return co_await guardedWrite(database_, guard, questions, write, receipt);
}

drogon::Task<Places> QuestionService::reorder(std::int64_t festivalId, Places places,
                                              WriteGuard& guard,
                                              const Receipt<Places>* receipt) const {
  auto write = [&](Sql& sql) { return checkAndMove(sql, festivalId, places, guard); };
  const GuardedRow questions{guardedQuestions(), festivalId};
  co_return co_await guardedWrite(database_, guard, questions, write, receipt);
}

}  // namespace festa
