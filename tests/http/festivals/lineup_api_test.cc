#include "tests/http/api_test.h"

namespace festa::test {

namespace {

std::string lineup(const std::string& name, const std::string& image, const std::string& at) {
  return R"({"name":")" + name + R"(","imageUrl":)" + image + R"(,"performanceAt":")" + at +
         R"("})";
}

class LineupApi : public ApiTest {
 protected:
  Response create(const std::string& body) { return call("POST", "/lineups", body); }
  Json::Value list() {
    return client.get("/lineups", {{"festival", std::to_string(festival)}}).json();
  }
};

}  // namespace

TEST_F(LineupApi, AreListedByTheTimeOfTheirPerformance) {
  create(lineup("나중", R"("")", "2026-05-21T18:00:00"));
  create(lineup("먼저", R"("")", "2026-05-20 18:00:00"));
  const auto all = list();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["name"].asString(), "먼저");
  EXPECT_EQ(all[0]["performanceAt"].asString(), "2026-05-20T18:00:00.000000");
  EXPECT_EQ(all[1]["name"].asString(), "나중");
}

TEST_F(LineupApi, ATimeWithAnOffsetIsThatMomentInOurZone) {
  const auto made = create(lineup("밴드", R"("")", "2026-05-20T10:30:00.5+01:00"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.json()["performanceAt"].asString(), "2026-05-20T18:30:00.500000");
  EXPECT_EQ(list()[0]["performanceAt"].asString(), "2026-05-20T18:30:00.500000");
}

TEST_F(LineupApi, WithoutAPictureTheAddressIsEmptyAndNeverNull) {
  for (const auto& body :
       {lineup("a", "null", "2026-05-20T18:00:00"), lineup("a", R"("")", "2026-05-20T18:00:00"),
        std::string(R"({"name":"a","performanceAt":"2026-05-20T18:00"})")}) {
    const auto made = create(body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.json()["imageUrl"], Json::Value(""));
  }
}

TEST_F(LineupApi, APictureIsAnAddressOfTheWeb) {
  for (const auto* image : {R"("data:image/png;base64,AAAA")", "\"javascript:alert(1)\"",
                            R"("/a.jpg")", R"("https://")", R"("https:///a")", R"("http://a b")",
                            R"("ftp://example.com/a")", "1", "{}", R"(" ")"}) {
    SCOPED_TRACE(image);
    const auto response = create(lineup("a", image, "2026-05-20T18:00:00"));
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"imageUrl"});
  }
  const auto longest = "\"https://e.com/" + repeated("a", 986) + '"';
  EXPECT_EQ(create(lineup("a", longest, "2026-05-20T18:00:00")).status, 201);
  const auto tooLong = "\"https://e.com/" + repeated("a", 987) + '"';
  EXPECT_EQ(create(lineup("a", tooLong, "2026-05-20T18:00:00")).status, 422);
}

TEST_F(LineupApi, ANameHasAtMost50Characters) {
  EXPECT_EQ(create(lineup(repeated("가", 50), R"("")", "2026-05-20T18:00:00")).status, 201);
  const auto response = create(lineup(repeated("가", 51), R"("")", "2026-05-20T18:00:00"));
  EXPECT_EQ(rejectedFields(response), std::set<std::string>{"name"});
}

}  // namespace festa::test
