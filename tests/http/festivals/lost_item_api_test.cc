#include "tests/http/api_test.h"

namespace festa::test {

namespace {

class LostItemApi : public ApiTest {
 protected:
  Response create(const std::string& place = "학생회관") {
    return call("POST", "/lost-items",
                R"({"imageUrl":"https://example.com/a.jpg","storageLocation":")" + place + R"("})");
  }
  Response setStatus(const std::string& id, const std::string& body) {
    return call("PATCH", "/lost-items/" + id + "/status", body);
  }
  Json::Value list() {
    return client.get("/lost-items", {{"festival", std::to_string(festival)}}).json();
  }
  std::string guide() {
    return client.get("/festivals/lost-item-guide", {{"festival", std::to_string(festival)}}).body;
  }
};

}  // namespace

TEST_F(LostItemApi, ANewOneIsPendingAndHasItsTime) {
  const auto made = create().json();
  EXPECT_EQ(made["pickupStatus"].asString(), "PENDING");
  EXPECT_THAT(
      made["createdAt"].asString(),
      testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}"));
}

TEST_F(LostItemApi, IsPickedUpAndPutBack) {
  const auto id = create().json()["lostItemId"].asString();
  for (const auto* status : {"COMPLETED", "COMPLETED", "PENDING"}) {
    const auto response = setStatus(id, R"({"pickupStatus":")" + std::string(status) + R"("})");
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body, R"({"lostItemId":)" + id + R"(,"pickupStatus":")" + status + R"("})");
    EXPECT_EQ(list()[0]["pickupStatus"].asString(), status);
  }
}

TEST_F(LostItemApi, AStatusIsOneOfTwoAndOfAnItemOfTheFestival) {
  const auto id = create().json()["lostItemId"].asString();
  for (const auto* body : {"{}", R"({"pickupStatus":"LOST"})", R"({"pickupStatus":1})"})
    EXPECT_EQ(rejectedFields(setStatus(id, body)), std::set<std::string>{"pickupStatus"});
  const std::string done = R"({"pickupStatus":"COMPLETED"})";
  expectProblem(setStatus("999999999", done), 404, "LOST_ITEM_NOT_FOUND");
  expectProblem(setStatus("abc", done), 400, "INVALID_PARAMETER");
  const auto path = "/lost-items/" + id + "/status";
  expectProblem(client.send("PATCH", path, done, service->newFestival()), 403,
                "LOST_ITEM_NOT_IN_FESTIVAL");
  expectProblem(client.send("PATCH", path, done), 401, "UNAUTHENTICATED");
  expectProblem(client.send("PATCH", path, done, asUser()), 403, "FORBIDDEN");
  EXPECT_EQ(list()[0]["pickupStatus"].asString(), "PENDING");
}

TEST_F(LostItemApi, APlaceHasAtMost20CharactersAndAPictureMustBeThere) {
  EXPECT_EQ(create(repeated("가", 20)).status, 201);
  EXPECT_EQ(rejectedFields(create(repeated("가", 21))), std::set<std::string>{"storageLocation"});
  EXPECT_EQ(
      rejectedFields(call("POST", "/lost-items", R"({"imageUrl":"","storageLocation":"본부"})")),
      std::set<std::string>{"imageUrl"});
}

TEST_F(LostItemApi, TheGuideIsWrittenByCouncilsAndReadByEverybody) {
  EXPECT_EQ(guide(), R"({"lostItemGuide":""})");
  const std::string text = R"({"lostItemGuide":"본부로\n오세요 😀"})";
  const auto changed = call("PATCH", "/festivals/lost-item-guide", text);
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(changed.body, text);
  EXPECT_EQ(guide(), text);
  EXPECT_EQ(call("PATCH", "/festivals/lost-item-guide", R"({"lostItemGuide":""})").status, 200);
  EXPECT_EQ(guide(), R"({"lostItemGuide":""})");
}

TEST_F(LostItemApi, TheGuideHasAtMost1000CharactersAndAnAuthor) {
  const auto guideOf = [](std::size_t length) {
    return R"({"lostItemGuide":")" + repeated("가", length) + R"("})";
  };
  EXPECT_EQ(call("PATCH", "/festivals/lost-item-guide", guideOf(1000)).status, 200);
  for (const auto& body : {guideOf(1001), std::string("{}"), std::string(R"({"lostItemGuide":1})")})
    EXPECT_EQ(rejectedFields(call("PATCH", "/festivals/lost-item-guide", body)),
              std::set<std::string>{"lostItemGuide"});
  expectProblem(client.send("PATCH", "/festivals/lost-item-guide", guideOf(1)), 401,
                "UNAUTHENTICATED");
  expectProblem(client.send("PATCH", "/festivals/lost-item-guide", guideOf(1), asUser()), 403,
                "FORBIDDEN");
  expectProblem(client.get("/festivals/lost-item-guide"), 400, "INVALID_PARAMETER");
  expectProblem(client.get("/festivals/lost-item-guide", {{"festival", "999999999"}}), 404,
                "FESTIVAL_NOT_FOUND");
}

}  // namespace festa::test
