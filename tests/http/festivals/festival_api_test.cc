#include "tests/http/api_test.h"

namespace festa::test {

namespace {

std::string festivalFrom(const std::string& start, const std::string& end) {
  return R"({"universityName":"페스타대","festivalName":"봄 축제","startDate":")" + start +
         R"(","endDate":")" + end + R"("})";
}

std::string information(const std::string& start, const std::string& visible) {
  return R"({"festivalName":"새 이름","startDate":")" + start +
         R"(","endDate":"2027-05-22","userVisible":)" + visible + '}';
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

TEST_F(FestivalApi, ACouncilChangesItsFestival) {
  const auto changed = call("PATCH", "/festivals/information", information("2027-05-20", "true"));
  ASSERT_EQ(changed.status, 200) << changed.body;
  const auto id = std::to_string(festival);
  EXPECT_EQ(changed.body, R"({"festivalId":)" + id +
                              R"(,"festivalName":"새 이름","startDate":"2027-05-20",)"
                              R"("endDate":"2027-05-22","userVisible":true})");
  const auto shown = client.get("/festivals", {{"festival", id}}).json();
  for (const auto& name : namesIn(changed.json())) EXPECT_EQ(shown[name], changed.json()[name]);
}

TEST_F(FestivalApi, InformationIsCheckedAndOfCouncilsOnly) {
  const auto before = client.get("/festivals", {{"festival", std::to_string(festival)}}).body;
  EXPECT_EQ(rejectedFields(call("PATCH", "/festivals/information", "{}")),
            (std::set<std::string>{"festivalName", "startDate", "endDate", "userVisible"}));
  EXPECT_EQ(
      rejectedFields(call("PATCH", "/festivals/information", information("2027-05-23", "true"))),
      std::set<std::string>{"endDate"});
  EXPECT_EQ(rejectedFields(call("PATCH", "/festivals/information", information("2027-05-20", "1"))),
            std::set<std::string>{"userVisible"});
  const auto right = information("2027-05-20", "true");
  expectProblem(client.send("PATCH", "/festivals/information", right), 401, "UNAUTHENTICATED");
  expectProblem(client.send("PATCH", "/festivals/information", right, asUser()), 403, "FORBIDDEN");
  EXPECT_EQ(client.get("/festivals", {{"festival", std::to_string(festival)}}).body, before);
}

TEST_F(FestivalApi, UniversitiesAreFoundByAPartOfTheirName) {
  const auto add = [this](const std::string& name) {
    const auto made = asAdmin("POST", "/festivals",
                              R"({"universityName":")" + name +
                                  R"(","festivalName":"축제","startDate":"2026-05-20",)"
                                  R"("endDate":"2026-05-22"})");
    return made.json()["festivalId"].asString();
  };
  const auto seen = add("Zebra 50%_대학교");
  add("Zebra 숨은대학교");
  PgSession(service->database())
      .query("UPDATE festivals SET user_visible = true WHERE id = $1::bigint", {seen});
  const std::string only = R"([{"festivalId":)" + seen +
                           R"(,"universityName":"Zebra 50%_대학교","festivalName":"축제",)"
                           R"("startDate":"2026-05-20","endDate":"2026-05-22"}])";
  for (const auto* part : {"Zebra", "zEBRA", "50%25_", "%EB%8C%80%ED%95%99%EA%B5%90"}) {
    const auto response = client.get("/festivals/universities?universityName=" + std::string(part));
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, testing::HasSubstr(only.substr(1, only.size() - 2))) << part;
  }
  EXPECT_EQ(client.get("/festivals/universities?universityName=Zebra").body, only);
  EXPECT_EQ(client.get("/festivals/universities?universityName=Z%25a").body, "[]");
  EXPECT_GE(client.get("/festivals/universities").json().size(), 3U) << "those of the demo, too";
  for (const auto& junk : {std::string("%00"), std::string("%FF"), repeated("a", 101)})
    expectProblem(client.get("/festivals/universities?universityName=" + junk), 400,
                  "INVALID_PARAMETER");
}

}  // namespace festa::test
