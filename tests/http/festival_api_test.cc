#include "tests/http/api_test.h"

namespace festa::test {

namespace {

std::string festivalFrom(const std::string& start, const std::string& end) {
  return R"({"universityName":"페스타대","festivalName":"봄 축제","startDate":")" + start +
         R"(","endDate":")" + end + R"("})";
}

class FestivalApi : public ApiTest {
 protected:
  std::string festivals() const { return inDatabase("SELECT count(*) FROM festivals"); }
};

}  // namespace

TEST_F(FestivalApi, AdminCreatesAFestivalThatEverybodyCanRead) {
  const auto created = asAdmin("POST", "/festivals", festivalFrom("2026-05-20", "2026-05-22"));
  ASSERT_EQ(created.status, 201) << created.body;
  const auto id = created.json()["festivalId"].asInt64();
  EXPECT_EQ(created.body,
            R"({"festivalId":)" + std::to_string(id) +
                R"(,"universityName":"페스타대","festivalName":"봄 축제",)"
                R"("startDate":"2026-05-20","endDate":"2026-05-22","userVisible":false})");
  const auto response = client.get("/festivals", {{"festival", std::to_string(id)}});
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.body,
            R"({"festivalId":)" + std::to_string(id) +
                R"(,"universityName":"페스타대","festivalImages":[],"festivalName":"봄 축제",)"
                R"("startDate":"2026-05-20","endDate":"2026-05-22","userVisible":false})");
}

TEST_F(FestivalApi, UserVisibleIsWhatTheDatabaseSays) {
  PgSession(service->database())
      .query("UPDATE festivals SET user_visible = true WHERE id = $1::bigint",
             {std::to_string(festival)});
  const auto json = client.get("/festivals", {{"festival", std::to_string(festival)}}).json();
  EXPECT_EQ(json["userVisible"], Json::Value(true));
}

TEST_F(FestivalApi, FestivalsOfTheDemoAreVisible) {
  for (const auto* id : {"1", "2"})
    EXPECT_EQ(client.get("/festivals", {{"festival", id}}).json()["userVisible"],
              Json::Value(true));
}

TEST_F(FestivalApi, OnlyAnAdminCreatesFestivals) {
  const auto before = festivals();
  const auto body = festivalFrom("2026-05-20", "2026-05-22");
  expectProblem(client.send("POST", "/festivals", body), 401, "UNAUTHENTICATED");
  expectProblem(call("POST", "/festivals", body), 403, "FORBIDDEN");
  expectProblem(client.send("POST", "/festivals", body, asUser()), 403, "FORBIDDEN");
  EXPECT_EQ(festivals(), before);
}

TEST_F(FestivalApi, DatesThatDoNotExistAre422OnTheirField) {
  const auto before = festivals();
  for (const auto* date : {"", "tomorrow", "2026-02-30", "2026-13-01", "2026-00-10", "2026-05-00",
                           "2026-5-20", "20260520", "0000-01-01", "-001-01-01",
                           "2026-05-20T00:00:00", "infinity", "2026-05-2a", " 2026-05-2"}) {
    SCOPED_TRACE(date);
    const auto response = asAdmin("POST", "/festivals", festivalFrom(date, "9999-12-31"));
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"startDate"});
    EXPECT_EQ(rejectedFields(asAdmin("POST", "/festivals", festivalFrom("0001-01-01", date))),
              std::set<std::string>{"endDate"});
  }
  EXPECT_EQ(festivals(), before);
}

TEST_F(FestivalApi, LeapDayExistsInLeapYearsOnly) {
  EXPECT_EQ(asAdmin("POST", "/festivals", festivalFrom("2028-02-29", "2028-02-29")).status, 201);
  expectProblem(asAdmin("POST", "/festivals", festivalFrom("2026-02-29", "2026-03-01")), 422,
                "VALIDATION_FAILED");
}

TEST_F(FestivalApi, EndBeforeStartIs422OnTheEnd) {
  const auto response = asAdmin("POST", "/festivals", festivalFrom("2026-05-20", "2026-05-19"));
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), std::set<std::string>{"endDate"});
  EXPECT_EQ(asAdmin("POST", "/festivals", festivalFrom("2026-05-20", "2026-05-20")).status, 201);
}

TEST_F(FestivalApi, CreatingNamesEachMissingFieldOnce) {
  const auto response = asAdmin("POST", "/festivals", "{}");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response),
            (std::set<std::string>{"universityName", "festivalName", "startDate", "endDate"}));
  EXPECT_EQ(response.json()["errors"].size(), 4U);
}

TEST_F(FestivalApi, UnknownFestivalIs404) {
  expectProblem(client.get("/festivals", {{"festival", "999999999"}}), 404, "FESTIVAL_NOT_FOUND");
}

TEST_F(FestivalApi, HeaderThatIsMissingOrNoIdIs400) {
  expectProblem(client.get("/festivals"), 400, "INVALID_PARAMETER");
  for (const auto* junk : {"", "abc", "0", "-1", "9223372036854775808"})
    expectProblem(client.get("/festivals", {{"festival", junk}}), 400, "INVALID_PARAMETER");
}

}  // namespace festa::test
