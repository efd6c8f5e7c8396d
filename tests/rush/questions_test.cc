// The next sequence of a question and the reordering of all: no two questions share a sequence, and
// a reordering names every question that there is.
#include "tests/support/http/rush.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/servers/service.h"
#include "tests/support/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace festa::test {

namespace {

constexpr int kParallel = 24;
constexpr int kQuestions = 5;  // before the rush of reorderings
const std::string kQuestion = R"({"question":"q","answer":"a"})";

// What the database has of one festival's questions.
struct Outcome {
  std::int64_t questions;
  std::int64_t sequences;  // different ones
  std::int64_t largest;
  std::map<int, int> statuses;
  std::vector<std::int64_t> ids;  // in their order
  std::int64_t taken = 0;         // sequences that a moved question shares with a new one
};

// Of the questions that were there before the rush, in the order of their ids.
using Ids = std::vector<std::int64_t>;

// As the body of a reordering: these ids from `first` on.
std::string placesOf(const Ids& ids, std::size_t first) {
  std::string places;
  for (std::size_t i = 0; i < ids.size(); ++i)
    places += (i > 0 ? R"(,{"questionId":)" : R"({"questionId":)") + std::to_string(ids[i]) +
              R"(,"sequence":)" + std::to_string(first + i) + '}';
  return '[' + places + ']';
}

class QuestionRush : public testing::TestWithParam<Protection> {
 protected:
  static void SetUpTestSuite() {
    auto settings = patient(labSettings());
    settings["DATABASE_CONNECTIONS"] = "32";
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), settings);
  }
  static void TearDownTestSuite() { lab_.reset(); }

  static std::vector<PgSession::Row> ofFestival(const std::string& query) {
    return PgSession(lab_->database()).query(query, {std::to_string(lab_->lastFestival())});
  }
  static Outcome outcomeOf(const std::vector<Response>& answers) {
    const auto rows = ofFestival(
        "SELECT count(*), count(DISTINCT sequence), max(sequence) FROM questions"
        " WHERE festival_id = $1::bigint");
    Outcome outcome{std::stoll(*rows[0][0]),
                    std::stoll(*rows[0][1]),
                    std::stoll(*rows[0][2]),
                    countByStatus(answers),
                    {}};
    for (const auto& row : ofFestival("SELECT id FROM questions WHERE festival_id = $1::bigint"
                                      " ORDER BY sequence, id"))
      outcome.ids.push_back(std::stoll(*row[0]));
    return outcome;
  }

  // Questions of a new festival, whose council `headers` are.
  static Ids newQuestions(const Headers& headers) {
    auto client = lab_->client();
    Ids ids;
    for (int i = 0; i < kQuestions; ++i)
      ids.push_back(
          untilServed([&] { return client.send("POST", "/questions", kQuestion, headers); })
              .json()["questionId"]
              .asInt64());
    return ids;
  }

  static Outcome createAtOnce(const Headers& protection) {
    const auto headers = joined(lab_->newFestival(), protection);
    return outcomeOf(rush(lab_->port(), kParallel, [&](HttpClient& client, int) {
      return untilServed([&] { return client.send("POST", "/questions", kQuestion, headers); });
    }));
  }

  // Every second request moves the questions that were there to the places that the others' new
  // ones would get.
  static Outcome createAndReorderAtOnce(const Headers& protection) {
    const auto headers = joined(lab_->newFestival(), protection);
    const auto ids = newQuestions(headers);
    const auto places = placesOf(ids, kQuestions + 1);
    auto outcome = outcomeOf(rush(lab_->port(), kParallel, [&](HttpClient& one, int i) {
      return untilServed([&] {
        return i % 2 == 0 ? one.send("POST", "/questions", kQuestion, headers)
                          : one.send("PATCH", "/questions/sequences", places, headers);
      });
    }));
    const auto taken = ofFestival(
        "SELECT count(*) FROM questions moved JOIN questions made USING (festival_id, sequence)"
        " WHERE festival_id = $1::bigint AND moved.id <= " +
        std::to_string(ids.back()) + " AND made.id > " + std::to_string(ids.back()));
    outcome.taken = std::stoll(*taken[0][0]);
    return outcome;
  }

  // Two orders of all questions: as they were made, and the other way round.
  static std::array<Ids, 2> ordersOf(const Ids& ids) {
    return {ids, Ids(ids.rbegin(), ids.rend())};
  }

  static std::unique_ptr<Service> lab_;
};

std::unique_ptr<Service> QuestionRush::lab_;

class QuestionRushHolds : public QuestionRush {};
class QuestionRushBreaks : public QuestionRush {};

const auto kWithBackstop =
    testing::Values(Protection{"AsConfigured", {}},
                    Protection{"None", {{"X-Concurrency", "none"}, {"X-Backstop", "on"}}},
                    Protection{"Memory", {{"X-Concurrency", "memory"}, {"X-Backstop", "on"}}});

const auto kControls = testing::Values(
    Protection{"None", {{"X-Concurrency", "none"}}},
    Protection{"MemoryReleasedBeforeCommit",
               {{"X-Concurrency", "memory"}, {"X-Lab-Fault", "release-before-commit"}}});

}  // namespace

TEST_P(QuestionRushHolds, EveryNewQuestionGetsTheNextSequence) {
  for (int round = 0; round < sized(2, 20); ++round) {
    const auto outcome = createAtOnce(GetParam().headers);
    EXPECT_EQ(outcome.statuses, (std::map<int, int>{{201, kParallel}}));
    EXPECT_EQ(outcome.questions, kParallel);
    EXPECT_EQ(outcome.sequences, kParallel);
    EXPECT_EQ(outcome.largest, kParallel) << "a sequence was left out";
  }
}

TEST_P(QuestionRushHolds, NoTwoShareASequenceWhileOthersReorder) {
  int reordered = 0;
  // A round in which a question is made first has no reordering that names every question.
  for (int round = 0; round < sized(2, 20) || (reordered == 0 && round < 40); ++round) {
    const auto outcome = createAndReorderAtOnce(GetParam().headers);
    reordered += outcome.statuses.contains(200) ? outcome.statuses.at(200) : 0;
    EXPECT_EQ(outcome.questions, kQuestions + kParallel / 2);
    EXPECT_EQ(outcome.sequences, outcome.questions);
    EXPECT_EQ(outcome.statuses.at(201), kParallel / 2);
    for (const auto& [status, count] : outcome.statuses)
      EXPECT_TRUE(status == 201 || status == 200 || status == 422) << status << " × " << count;
  }
  EXPECT_GT(reordered, 0);
}

// Half of the crowd wants one order, half the other.
TEST_P(QuestionRushHolds, OfTwoOrdersOneIsLeftAndNoMixture) {
  for (int round = 0; round < sized(2, 20); ++round) {
    const auto headers = joined(lab_->newFestival(), GetParam().headers);
    const auto orders = ordersOf(newQuestions(headers));
    const auto outcome = outcomeOf(rush(lab_->port(), kParallel, [&](HttpClient& one, int i) {
      const auto places = placesOf(orders[static_cast<std::size_t>(i % 2)], 1);
      return untilServed(
          [&] { return one.send("PATCH", "/questions/sequences", places, headers); });
    }));
    EXPECT_EQ(outcome.statuses, (std::map<int, int>{{200, kParallel}}));
    EXPECT_EQ(outcome.sequences, kQuestions);
    EXPECT_EQ(outcome.largest, kQuestions);
    EXPECT_THAT(orders, testing::Contains(outcome.ids));
  }
}

INSTANTIATE_TEST_SUITE_P(Alone, QuestionRushHolds, testing::ValuesIn(eachAlone()),
                         nameOfProtection);
INSTANTIATE_TEST_SUITE_P(WithBackstop, QuestionRushHolds, kWithBackstop, nameOfProtection);

// The controls: if these did not break, the tests above would be blind.
TEST_P(QuestionRushBreaks, TwoNewQuestionsShareASequence) {
  bool isShared = false;
  for (int round = 0; round < 20 && !isShared; ++round) {
    const auto outcome = createAtOnce(GetParam().headers);
    isShared = outcome.sequences < outcome.questions;
  }
  EXPECT_TRUE(isShared);
}

// Two new questions that share a sequence are no sign of it.
TEST_P(QuestionRushBreaks, AReorderingTakesThePlaceOfANewQuestion) {
  bool isTaken = false;
  for (int round = 0; round < 40 && !isTaken; ++round)
    isTaken = createAndReorderAtOnce(GetParam().headers).taken > 0;
  EXPECT_TRUE(isTaken);
}

INSTANTIATE_TEST_SUITE_P(Alone, QuestionRushBreaks, kControls, nameOfProtection);

// Two reorderings never mix, because each locks all rows before it changes any, in the lab as well.
// So the control does not ask the service: these commit row by row.
TEST_F(QuestionRush, ReorderingsThatCommitRowByRowLeaveAMixture) {
  const auto ids = newQuestions(lab_->newFestival());
  const auto orders = ordersOf(ids);
  PgSession session(lab_->database());
  session.run("UPDATE questions SET unguarded = true WHERE festival_id = " +
              std::to_string(lab_->lastFestival()));
  bool isMixed = false;
  for (int round = 0; round < 200 && !isMixed; ++round) {
    const auto answers = rush(lab_->port(), 2, [&](HttpClient&, int i) {
      const auto& order = orders[static_cast<std::size_t>(i)];
      PgSession one(lab_->database());
      for (std::size_t place = 0; place < order.size(); ++place)
        one.run("UPDATE questions SET sequence = " + std::to_string(place + 1) +
                " WHERE id = " + std::to_string(order[place]));
      return Response{};
    });
    const auto outcome = outcomeOf(answers);
    isMixed =
        outcome.sequences < kQuestions || (outcome.ids != orders[0] && outcome.ids != orders[1]);
  }
  EXPECT_TRUE(isMixed);
}

}  // namespace festa::test
