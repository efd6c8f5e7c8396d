// The next sequence of a question and the reordering of all: no two questions share a sequence, and
// a reordering names every question that there is.
#include "tests/support/rush.h"
#include "tests/support/service.h"
#include "tests/support/size.h"
#include "tests/support/strategy_cases.h"

#include <gtest/gtest.h>

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
};

class QuestionRush : public testing::TestWithParam<Protection> {
 protected:
  static void SetUpTestSuite() {
    auto settings = patient(labSettings());
    settings["DATABASE_CONNECTIONS"] = "32";
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), settings);
  }
  static void TearDownTestSuite() { lab_.reset(); }

  static Outcome outcomeOf(const std::vector<Response>& answers) {
    const auto rows = PgSession(lab_->database())
                          .query(
                              "SELECT count(*), count(DISTINCT sequence), max(sequence)"
                              " FROM questions WHERE festival_id = $1::bigint",
                              {std::to_string(lab_->lastFestival())});
    return {std::stoll(*rows[0][0]), std::stoll(*rows[0][1]), std::stoll(*rows[0][2]),
            countByStatus(answers)};
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
    auto client = lab_->client();
    std::string places;
    for (int i = 1; i <= kQuestions; ++i) {
      const auto made =
          untilServed([&] { return client.send("POST", "/questions", kQuestion, headers); });
      places += (i > 1 ? R"(,{"questionId":)" : R"({"questionId":)") +
                made.json()["questionId"].asString() + R"(,"sequence":)" +
                std::to_string(kQuestions + i) + '}';
    }
    return outcomeOf(rush(lab_->port(), kParallel, [&](HttpClient& one, int i) {
      return untilServed([&] {
        return i % 2 == 0 ? one.send("POST", "/questions", kQuestion, headers)
                          : one.send("PATCH", "/questions/sequences", '[' + places + ']', headers);
      });
    }));
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
  for (int round = 0; round < sized(2, 20); ++round) {
    const auto outcome = createAndReorderAtOnce(GetParam().headers);
    EXPECT_EQ(outcome.questions, kQuestions + kParallel / 2);
    EXPECT_EQ(outcome.sequences, outcome.questions);
    EXPECT_EQ(outcome.statuses.at(201), kParallel / 2);
    // A reordering that comes after a new question does not name every question.
    for (const auto& [status, count] : outcome.statuses)
      EXPECT_TRUE(status == 201 || status == 200 || status == 422) << status << " × " << count;
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

TEST_P(QuestionRushBreaks, AReorderingTakesThePlaceOfANewQuestion) {
  bool isShared = false;
  for (int round = 0; round < 40 && !isShared; ++round) {
    const auto outcome = createAndReorderAtOnce(GetParam().headers);
    isShared = outcome.sequences < outcome.questions;
  }
  EXPECT_TRUE(isShared);
}

INSTANTIATE_TEST_SUITE_P(Alone, QuestionRushBreaks, kControls, nameOfProtection);

}  // namespace festa::test
