// What is wrong outside a body: a refusal names it, where it is and why, in both languages.
#include "tests/http/api_test.h"
#include "tests/support/http/sales.h"

namespace festa::test {

namespace {

struct Wrong {
  std::string path;
  Headers headers;
  std::string field;
  std::string in;
  std::string why;  // in English
};

class ParameterApi : public ApiTest {
 protected:
  Headers here(const std::string& more = "", const std::string& value = "") const {
    Headers headers{{"festival", std::to_string(festival)}};
    if (!more.empty()) headers[more] = value;
    return headers;
  }
  void expectNamed(const Response& response, const Wrong& wrong) {
    SCOPED_TRACE(wrong.path + ' ' + wrong.field);
    expectProblem(response, 400, "INVALID_PARAMETER");
    const auto problem = response.json();
    ASSERT_EQ(problem["errors"].size(), 1U) << response.body;
    EXPECT_EQ(problem["errors"][0]["field"].asString(), wrong.field);
    EXPECT_EQ(problem["errors"][0]["in"].asString(), wrong.in);
    EXPECT_THAT(problem["message"].asString(), testing::StartsWith(wrong.field));
  }
  void expectExplained(const Wrong& wrong) {
    auto headers = wrong.headers;
    const auto korean = client.get(wrong.path, headers);
    headers["Accept-Language"] = "en";
    const auto english = client.get(wrong.path, headers);
    expectNamed(korean, wrong);
    expectNamed(english, wrong);
    EXPECT_THAT(english.json()["message"].asString(), testing::HasSubstr(wrong.why));
    EXPECT_NE(korean.json()["message"], english.json()["message"]);
    EXPECT_NE(korean.json()["errors"][0]["message"], english.json()["errors"][0]["message"]);
    EXPECT_THAT(korean.body, testing::Not(testing::HasSubstr("must")));
  }
};

}  // namespace

TEST_F(ParameterApi, ARefusalNamesWhatIsWrongAndWhy) {
  const std::string positive = "must be a positive whole number";
  const std::vector<Wrong> all{
      {"/performances?perPage=501", {}, "perPage", "query", "from 1 to 500"},
      {"/performances?page=x", {}, "page", "query", "whole number from 0"},
      {"/performances?page=1&after=1", {}, "after", "query", "together with page"},
      {"/performances/x", {}, "id", "path", positive},
      {"/performances/1/seats?location=%FF", {}, "location", "query", "UTF-8"},
      {"/performances/1/seats/events?festival=x", {}, "festival", "query", positive},
      {"/coupons/0", {}, "id", "path", positive},
      {"/festivals", {}, "festival", "header", "missing"},
      {"/festivals", {{"festival", "<b>"}}, "festival", "header", positive},
      {"/festivals/universities?universityName=%00", {}, "universityName", "query", "UTF-8"},
      {"/announcements?after=0", here(), "after", "query", positive},
      {"/announcements/events", here("Last-Event-ID", "x"), "Last-Event-ID", "header", "id of"},
      {"/event-dates/x/events", here(), "eventDateId", "path", positive},
      {"/business/performances/1/reservations/x", service->as("admin"), "rid", "path", positive},
      {"/coupons/claims/x", Sales::as(1), "claimId", "path", positive},
      {"/" + repeated("a", 2000), {}, "path", "path", "at most 1024 bytes"},
  };
  for (const auto& wrong : all) expectExplained(wrong);
}

TEST_F(ParameterApi, AnUnusableIdempotencyKeyIsNamed) {
  auto headers = council;
  headers["Idempotency-Key"] = repeated("k", 129);
  const auto response =
      client.send("POST", "/announcements", R"({"title":"t","content":"c"})", headers);
  expectNamed(response, {"/announcements", {}, "Idempotency-Key", "header", ""});
}

TEST_F(ParameterApi, NothingOfTheValueComesBack) {
  const auto response =
      client.get("/performances?perPage=%3Cscript%3E", {{"Accept-Language", "en"}});
  EXPECT_THAT(response.body, testing::Not(testing::HasSubstr("script")));
}

TEST_F(ParameterApi, AListThatIsAnsweredAsAWholeRefusesWordsOfPaging) {
  const auto date = call("POST", "/event-dates", R"({"date":"2027-05-20"})").json();
  const auto dateId = date["eventDateId"].asString();
  auto user = Sales::as(1);
  user.merge(here());
  auto admin = service->as("admin");
  admin.merge(here());
  for (const auto& path :
       {std::string("/performances/1/seats"), std::string("/lineups"), std::string("/event-dates"),
        "/event-dates/" + dateId + "/events", std::string("/questions"), std::string("/lost-items"),
        std::string("/festivals/universities"),
        std::string("/customer/performances/1/reservations"), std::string("/admin/locks")}) {
    const auto& who = path.starts_with("/admin") ? admin : user;
    for (const auto* word : {"page", "perPage", "after"})
      expectNamed(client.get(path + "?" + word + "=1", who), {path, {}, word, "query", ""});
    EXPECT_EQ(client.get(path + "?utm_source=poster", who).status, 200) << path;
  }
}

TEST_F(ParameterApi, AnnouncementsAreContinuedByAfterOnly) {
  for (const auto* word : {"page", "perPage"})
    expectNamed(client.get(std::string("/announcements?") + word + "=1", here()),
                {"/announcements", {}, word, "query", ""});
  EXPECT_EQ(client.get("/announcements?after=1", here()).status, 200);
}

TEST_F(ParameterApi, WhatIsNoListIgnoresWordsOfPaging) {
  EXPECT_EQ(client.get("/performances/1?page=1&perPage=x&after=y").status, 200);
  EXPECT_EQ(client.get("/festivals?page=1", here()).status, 200);
}

}  // namespace festa::test
