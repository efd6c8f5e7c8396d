#include "tests/http/api_test.h"

namespace festa::test {

namespace {

class QuestionApi : public ApiTest {
 protected:
  std::string add(const std::string& question) {
    const auto made =
        call("POST", "/questions", R"({"question":")" + question + R"(","answer":"답"})");
    EXPECT_EQ(made.status, 201) << made.body;
    return made.json()["questionId"].asString();
  }
  std::vector<std::string> addThree() { return {add("a"), add("b"), add("c")}; }
  Json::Value list() {
    return client.get("/questions", {{"festival", std::to_string(festival)}}).json();
  }
  // Their texts and sequences in the order of the list, "a1b2c3".
  std::string order() {
    std::string all;
    for (const auto& item : list())
      all += item["question"].asString() + item["sequence"].asString();
    return all;
  }
  static std::string place(const std::string& id, int sequence) {
    return R"({"questionId":)" + id + R"(,"sequence":)" + std::to_string(sequence) + '}';
  }
  static std::string places(const std::vector<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ",") + item;
    return '[' + text + ']';
  }
  Response reorder(const std::vector<std::string>& items) {
    return call("PATCH", "/questions/sequences", places(items));
  }
};

}  // namespace

TEST_F(QuestionApi, ANewOneIsBehindAllOthers) {
  const auto ids = addThree();
  EXPECT_EQ(order(), "a1b2c3");
  ASSERT_EQ(call("DELETE", "/questions/" + ids[1]).status, 204);
  add("d");
  EXPECT_EQ(order(), "a1c3d4");
  service->newFestival();
  const auto other =
      client.send("POST", "/questions", R"({"question":"x","answer":"y"})", service->newFestival());
  EXPECT_EQ(other.json()["sequence"].asInt(), 1) << "each festival counts for itself";
}

TEST_F(QuestionApi, AReorderingAnswersAllPlacesBySequence) {
  const auto ids = addThree();
  const auto response = reorder({place(ids[0], 3), place(ids[1], 1), place(ids[2], 2)});
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.body, places({place(ids[1], 1), place(ids[2], 2), place(ids[0], 3)}));
  EXPECT_EQ(order(), "b1c2a3");
  ASSERT_EQ(reorder({place(ids[0], 0), place(ids[1], 1), place(ids[2], 1000000)}).status, 200);
  EXPECT_EQ(order(), "a0b1c1000000");
  add("d");
  EXPECT_EQ(order(), "a0b1c1000000d1000001");
}

TEST_F(QuestionApi, AReorderingNamesEveryQuestion) {
  const auto ids = addThree();
  const auto response = reorder({place(ids[0], 2), place(ids[1], 1)});
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), std::set<std::string>{"questions"});
  EXPECT_EQ(order(), "a1b2c3");
}

TEST_F(QuestionApi, AReorderingNamesEachOnceAndEachSequenceOnce) {
  const auto ids = addThree();
  EXPECT_EQ(rejectedFields(reorder({place(ids[0], 1), place(ids[0], 2), place(ids[1], 3)})),
            std::set<std::string>{"questions[1].questionId"});
  EXPECT_EQ(rejectedFields(reorder({place(ids[0], 1), place(ids[1], 2), place(ids[2], 1)})),
            std::set<std::string>{"questions[2].sequence"});
  EXPECT_EQ(order(), "a1b2c3");
}

TEST_F(QuestionApi, AReorderingOfOtherFestivalsQuestionsIs403AndOfUnknownOnes404) {
  const auto ids = addThree();
  const auto stranger = service->newFestival();
  const auto all = places({place(ids[0], 3), place(ids[1], 2), place(ids[2], 1)});
  expectProblem(client.send("PATCH", "/questions/sequences", all, stranger), 403,
                "QUESTION_NOT_IN_FESTIVAL");
  expectProblem(reorder({place(ids[0], 1), place(ids[1], 2), place(ids[2], 3),
                         place("9223372036854775807", 4)}),
                404, "QUESTION_NOT_FOUND");
  expectProblem(client.send("PATCH", "/questions/sequences", all), 401, "UNAUTHENTICATED");
  expectProblem(client.send("PATCH", "/questions/sequences", all, asUser()), 403, "FORBIDDEN");
  EXPECT_EQ(order(), "a1b2c3");
}

TEST_F(QuestionApi, AReorderingIsAListOfPlaces) {
  const auto id = add("a");
  for (const auto* body : {"[]", "{}", "1", "null", R"("a")"}) {
    SCOPED_TRACE(body);
    const auto response = call("PATCH", "/questions/sequences", body);
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"questions"});
  }
  for (const auto* body : {"[", "[1,]", "", "[]x"})
    expectProblem(client.send("PATCH", "/questions/sequences", body, council), 400,
                  "MALFORMED_JSON");
  EXPECT_EQ(rejectedFields(call("PATCH", "/questions/sequences", "[1]")),
            std::set<std::string>{"questions[0]"});
  EXPECT_EQ(rejectedFields(call("PATCH", "/questions/sequences", "[{}]")),
            (std::set<std::string>{"questions[0].questionId", "questions[0].sequence"}));
  for (const int sequence : {-1, 1'000'001})
    EXPECT_EQ(rejectedFields(reorder({place(id, sequence)})),
              std::set<std::string>{"questions[0].sequence"});
}

TEST_F(QuestionApi, ARepeatedReorderingGetsTheFirstAnswer) {
  const auto ids = addThree();
  auto headers = council;
  headers["Idempotency-Key"] = "reorder-" + std::to_string(festival);
  const auto body = places({place(ids[0], 3), place(ids[1], 2), place(ids[2], 1)});
  const auto first = client.send("PATCH", "/questions/sequences", body, headers);
  ASSERT_EQ(first.status, 200);
  EXPECT_EQ(client.send("PATCH", "/questions/sequences", body, headers).body, first.body);
}

TEST_F(QuestionApi, QuestionsHaveAtMost255CharactersAndAnswers3000) {
  const auto body = [](std::size_t question, std::size_t answer) {
    return R"({"question":")" + repeated("가", question) + R"(","answer":")" +
           repeated("나", answer) + R"("})";
  };
  EXPECT_EQ(call("POST", "/questions", body(255, 3000)).status, 201);
  EXPECT_EQ(rejectedFields(call("POST", "/questions", body(256, 3001))),
            (std::set<std::string>{"question", "answer"}));
}

}  // namespace festa::test
