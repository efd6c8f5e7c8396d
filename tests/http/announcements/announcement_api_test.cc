#include "tests/http/api_test.h"

#include <array>
#include <limits>

namespace festa::test {

namespace {

const std::set<std::string> kFiveFields{"announcementId", "title", "content", "isPinned",
                                        "createdAt"};

std::string announcement(bool pinned, const std::string& title = "제목",
                         const std::string& content = "내용") {
  return R"({"title":")" + title + R"(","content":")" + content + R"(","isPinned":)" +
         (pinned ? "true}" : "false}");
}

std::string text(const std::string& title, const std::string& content) {
  return R"({"title":")" + title + R"(","content":")" + content + R"("})";
}

std::vector<std::int64_t> idsOf(const Json::Value& list) {
  std::vector<std::int64_t> ids;
  for (const auto& item : list) ids.push_back(item["announcementId"].asInt64());
  return ids;
}

using Ids = std::vector<std::int64_t>;

class AnnouncementApi : public ApiTest {
 protected:
  std::int64_t create(bool pinned) {
    const auto response = call("POST", "/announcements", announcement(pinned));
    EXPECT_EQ(response.status, 201) << response.body;
    return response.json()["announcementId"].asInt64();
  }
  Ids createPinned(int count) {
    Ids ids;
    for (int i = 0; i < count; ++i) ids.push_back(create(true));
    return ids;
  }
  Response setPin(std::int64_t id, bool pinned) {
    return call("PATCH", path(id) + "/pin", pinned ? R"({"pinned":true})" : R"({"pinned":false})");
  }
  Response swap(std::int64_t id, std::int64_t insteadOf) {
    return call("PATCH", path(id) + "/pin",
                R"({"pinned":true,"insteadOf":)" + std::to_string(insteadOf) + "}");
  }
  Response list() { return client.get("/announcements", {{"festival", std::to_string(festival)}}); }
  Ids pinned() { return idsOf(list().json()["pinned"]); }
  Ids unpinned() { return idsOf(list().json()["unpinned"]); }
  static std::string path(std::int64_t id) { return "/announcements/" + std::to_string(id); }
};

}  // namespace

TEST_F(AnnouncementApi, CreatingAnswers201WithExactlyTheFiveFields) {
  const auto response =
      call("POST", "/announcements", announcement(true, "따옴표 \\\" 😀", "줄\\n바꿈"));
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_THAT(response.header("content-type"), testing::StartsWith("application/json"));
  const auto json = response.json();
  EXPECT_EQ(namesIn(json), kFiveFields);
  EXPECT_TRUE(json["announcementId"].isInt64());
  EXPECT_EQ(json["title"].asString(), "따옴표 \" 😀");
  EXPECT_EQ(json["content"].asString(), "줄\n바꿈");
  EXPECT_EQ(json["isPinned"], Json::Value(true));
  EXPECT_EQ(list().json()["pinned"][0], json);
}

TEST_F(AnnouncementApi, CreatedAtIsLocalTimeWithSixFractionDigits) {
  const auto json = call("POST", "/announcements", announcement(false)).json();
  const auto createdAt = json["createdAt"].asString();
  EXPECT_THAT(createdAt, testing::MatchesRegex(
                             "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}"));
  EXPECT_EQ(
      createdAt,
      inDatabase(
          "SELECT to_char(created_at AT TIME ZONE 'Asia/Seoul', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')"
          " FROM announcements WHERE id = $1::bigint",
          {json["announcementId"].asString()}));
}

TEST_F(AnnouncementApi, ListOfANewFestivalIsTwoEmptyLists) {
  const auto response = list();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"pinned":[],"unpinned":[]})");
}

TEST_F(AnnouncementApi, ListSeparatesPinnedFromUnpinnedNewestFirst) {
  const auto a = create(false), b = create(true), c = create(false), d = create(true);
  const auto response = list();
  ASSERT_EQ(response.status, 200);
  const auto json = response.json();
  EXPECT_EQ(namesIn(json), (std::set<std::string>{"pinned", "unpinned"}));
  EXPECT_EQ(idsOf(json["pinned"]), (Ids{d, b}));
  EXPECT_EQ(idsOf(json["unpinned"]), (Ids{c, a}));
  for (const auto* name : {"pinned", "unpinned"})
    for (const auto& item : json[name]) {
      EXPECT_EQ(namesIn(item), kFiveFields);
      EXPECT_EQ(item["isPinned"].asBool(), std::string(name) == "pinned");
    }
}

TEST_F(AnnouncementApi, ListShowsOnlyTheFestivalOfTheHeader) {
  create(true);
  service->newFestival();
  const auto other =
      client.get("/announcements", {{"festival", std::to_string(service->lastFestival())}});
  EXPECT_EQ(other.body, R"({"pinned":[],"unpinned":[]})");
}

TEST_F(AnnouncementApi, FestivalHeaderThatIsMissingOrNoIdIs400) {
  expectProblem(client.get("/announcements"), 400, "INVALID_PARAMETER");
  for (const auto* junk :
       {"", "abc", "0", "-1", "+1", "1.5", "1 2", "1,2", "0x1", "9223372036854775808"}) {
    SCOPED_TRACE(junk);
    expectProblem(client.get("/announcements", {{"festival", junk}}), 400, "INVALID_PARAMETER");
  }
}

TEST_F(AnnouncementApi, ListOfAnUnknownFestivalIs404) {
  expectProblem(client.get("/announcements", {{"festival", "9223372036854775807"}}), 404,
                "FESTIVAL_NOT_FOUND");
}

TEST_F(AnnouncementApi, EditingAnswersThreeFieldsAndChangesOnlyTheTexts) {
  const auto before = call("POST", "/announcements", announcement(true)).json();
  const auto id = before["announcementId"].asInt64();
  const auto response = call("PATCH", path(id), text("새 제목", "새 내용"));
  ASSERT_EQ(response.status, 200) << response.body;
  const auto json = response.json();
  EXPECT_EQ(namesIn(json), (std::set<std::string>{"announcementId", "title", "content"}));
  EXPECT_EQ(json["announcementId"].asInt64(), id);
  EXPECT_EQ(json["title"].asString(), "새 제목");
  EXPECT_EQ(json["content"].asString(), "새 내용");
  auto expected = before;
  expected["title"] = "새 제목";
  expected["content"] = "새 내용";
  EXPECT_EQ(list().json()["pinned"][0], expected);
}

TEST_F(AnnouncementApi, PinningAndUnpinningMoveItBetweenTheLists) {
  const auto id = create(false);
  const auto pinning = setPin(id, true);
  ASSERT_EQ(pinning.status, 200) << pinning.body;
  EXPECT_EQ(namesIn(pinning.json()), (std::set<std::string>{"announcementId", "isPinned"}));
  EXPECT_EQ(pinning.json()["announcementId"].asInt64(), id);
  EXPECT_EQ(pinning.json()["isPinned"], Json::Value(true));
  EXPECT_EQ(pinned(), Ids{id});
  EXPECT_EQ(unpinned(), Ids{});
  const auto unpinning = setPin(id, false);
  EXPECT_EQ(unpinning.status, 200);
  EXPECT_EQ(unpinning.json()["isPinned"], Json::Value(false));
  EXPECT_EQ(pinned(), Ids{});
  EXPECT_EQ(unpinned(), Ids{id});
}

TEST_F(AnnouncementApi, PinningAPinnedOneIs200AndChangesNothingEvenWhenAllPlacesAreTaken) {
  const auto ids = createPinned(3);
  const auto before = list().body;
  for (const auto id : ids) {
    const auto response = setPin(id, true);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.json()["isPinned"], Json::Value(true));
  }
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, UnpinningAnUnpinnedOneIs200AndChangesNothing) {
  const auto id = create(false);
  const auto before = list().body;
  const auto response = setPin(id, false);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.json()["isPinned"], Json::Value(false));
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, FourthPinnedOneCannotBeCreated) {
  createPinned(3);
  const auto before = list().body;
  expectProblem(call("POST", "/announcements", announcement(true)), 409, "PINNED_LIMIT_EXCEEDED");
  EXPECT_EQ(list().body, before);
  EXPECT_EQ(call("POST", "/announcements", announcement(false)).status, 201);
}

TEST_F(AnnouncementApi, FourthOneCannotBePinned) {
  createPinned(3);
  const auto id = create(false);
  expectProblem(setPin(id, true), 409, "PINNED_LIMIT_EXCEEDED");
  EXPECT_EQ(unpinned(), Ids{id});
}

TEST_F(AnnouncementApi, UnpinningMakesRoom) {
  const auto ids = createPinned(3);
  EXPECT_EQ(setPin(ids[1], false).status, 200);
  const auto fourth = create(true);
  EXPECT_EQ(pinned(), (Ids{fourth, ids[2], ids[0]}));
  expectProblem(setPin(ids[1], true), 409, "PINNED_LIMIT_EXCEEDED");
}

TEST_F(AnnouncementApi, DeletingMakesRoom) {
  const auto ids = createPinned(3);
  const auto waiting = create(false);
  EXPECT_EQ(call("DELETE", path(ids[0])).status, 204);
  EXPECT_EQ(setPin(waiting, true).status, 200);
  EXPECT_EQ(pinned(), (Ids{waiting, ids[2], ids[1]}));
}

TEST_F(AnnouncementApi, OneCallPinsOneInsteadOfAnother) {
  const auto ids = createPinned(3);
  const auto waiting = create(false);
  const auto answer = swap(waiting, ids[1]);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(namesIn(answer.json()), (std::set<std::string>{"announcementId", "isPinned"}));
  EXPECT_EQ(answer.json()["announcementId"].asInt64(), waiting);
  EXPECT_EQ(pinned(), (Ids{waiting, ids[2], ids[0]}));
  EXPECT_EQ(unpinned(), Ids{ids[1]});
}

TEST_F(AnnouncementApi, OneCallCreatesAPinnedOneInsteadOfAnother) {
  const auto ids = createPinned(3);
  const auto answer = call(
      "POST", "/announcements",
      R"({"title":"t","content":"c","isPinned":true,"insteadOf":)" + std::to_string(ids[0]) + "}");
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(namesIn(answer.json()), kFiveFields);
  EXPECT_EQ(pinned(), (Ids{answer.json()["announcementId"].asInt64(), ids[2], ids[1]}));
  EXPECT_EQ(unpinned(), Ids{ids[0]});
}

TEST_F(AnnouncementApi, AReplacedOneThatIsNotPinnedMakesNoRoom) {
  createPinned(3);
  const auto waiting = create(false), other = create(false);
  const auto before = list().body;
  expectProblem(swap(waiting, other), 409, "PINNED_LIMIT_EXCEEDED");
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, ARefusedSwapChangesNothing) {
  const auto ids = createPinned(3);
  const auto waiting = create(false);
  const auto deleted = create(false);
  ASSERT_EQ(call("DELETE", path(deleted)).status, 204);
  const auto stranger = service->newFestival();
  const auto foreign = client.send("POST", "/announcements", announcement(true), stranger)
                           .json()["announcementId"]
                           .asInt64();
  const auto before = list().body;
  expectProblem(swap(waiting, foreign), 403, "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  expectProblem(swap(waiting, 999'999'999), 404, "ANNOUNCEMENT_NOT_FOUND");
  expectProblem(swap(waiting, deleted), 404, "ANNOUNCEMENT_NOT_FOUND");
  expectProblem(swap(deleted, ids[0]), 404, "ANNOUNCEMENT_NOT_FOUND");
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, PinningAPinnedOneTakesNoOtherDown) {
  const auto ids = createPinned(2);
  const auto before = list().body;
  EXPECT_EQ(swap(ids[0], ids[1]).status, 200);
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, InsteadOfIsTheIdOfAnotherOneAndNeedsAPin) {
  const auto id = create(true);
  const auto before = list().body;
  const auto itself = std::to_string(id);
  for (const auto& body :
       {R"({"pinned":true,"insteadOf":)" + itself + "}",
        R"({"pinned":false,"insteadOf":1})" + std::string(), R"({"insteadOf":1})" + std::string(),
        R"({"pinned":true,"insteadOf":0})" + std::string(),
        R"({"pinned":true,"insteadOf":"1"})" + std::string()}) {
    const auto answer = call("PATCH", path(id) + "/pin", body);
    expectProblem(answer, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(answer), std::set<std::string>{"insteadOf"}) << body;
  }
  EXPECT_EQ(rejectedFields(call("POST", "/announcements",
                                R"({"title":"t","content":"c","insteadOf":)" + itself + "}")),
            std::set<std::string>{"insteadOf"});
  EXPECT_EQ(list().body, before);
  EXPECT_EQ(call("PATCH", path(id) + "/pin", R"({"pinned":true,"insteadOf":null})").status, 200);
}

TEST_F(AnnouncementApi, LimitIsCountedPerFestival) {
  createPinned(3);
  const auto other = service->newFestival();
  EXPECT_EQ(client.send("POST", "/announcements", announcement(true), other).status, 201);
}

TEST_F(AnnouncementApi, DeletingAnswers204WithoutABody) {
  const auto response = call("DELETE", path(create(true)));
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(list().body, R"({"pinned":[],"unpinned":[]})");
}

TEST_F(AnnouncementApi, DeletedRowStaysInTheDatabaseWithItsTime) {
  const auto id = std::to_string(create(true));
  EXPECT_EQ(inDatabase("SELECT deleted_at FROM announcements WHERE id = $1::bigint", {id}),
            "(null)");
  call("DELETE", "/announcements/" + id);
  EXPECT_EQ(
      inDatabase(
          "SELECT deleted_at BETWEEN created_at AND now() FROM announcements WHERE id = $1::bigint",
          {id}),
      "t");
}

TEST_F(AnnouncementApi, DeletedOneIs404ForEveryCall) {
  const auto id = create(true);
  ASSERT_EQ(call("DELETE", path(id)).status, 204);
  expectProblem(call("DELETE", path(id)), 404, "ANNOUNCEMENT_NOT_FOUND");
  expectProblem(call("PATCH", path(id), text("t", "c")), 404, "ANNOUNCEMENT_NOT_FOUND");
  expectProblem(setPin(id, true), 404, "ANNOUNCEMENT_NOT_FOUND");
  expectProblem(setPin(id, false), 404, "ANNOUNCEMENT_NOT_FOUND");
}

TEST_F(AnnouncementApi, UnknownIdIs404ForEveryCall) {
  for (const std::int64_t id :
       {std::int64_t{999'999'999}, std::numeric_limits<std::int64_t>::max()}) {
    expectProblem(call("DELETE", path(id)), 404, "ANNOUNCEMENT_NOT_FOUND");
    expectProblem(call("PATCH", path(id), text("t", "c")), 404, "ANNOUNCEMENT_NOT_FOUND");
    expectProblem(setPin(id, true), 404, "ANNOUNCEMENT_NOT_FOUND");
  }
}

TEST_F(AnnouncementApi, AnnouncementOfAnotherFestivalIs403ForEveryCallAndUnchanged) {
  const auto mine = create(true);
  const auto before = list().body;
  const auto stranger = service->newFestival();
  const auto p = path(mine);
  expectProblem(client.send("PATCH", p, text("t", "c"), stranger), 403,
                "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  expectProblem(client.send("PATCH", p + "/pin", R"({"pinned":false})", stranger), 403,
                "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  expectProblem(client.send("PATCH", p + "/pin", R"({"pinned":true})", stranger), 403,
                "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  expectProblem(client.request("DELETE", p, stranger), 403, "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, FestivalComesFromTheTokenNeverFromBodyOrHeader) {
  service->newFestival();
  const auto other = std::to_string(service->lastFestival());
  auto headers = council;
  headers["festival"] = other;
  const auto body = R"({"title":"t","content":"c","isPinned":false,"festivalId":)" + other +
                    R"(,"festival":)" + other + "}";
  const auto response = client.send("POST", "/announcements", body, headers);
  ASSERT_EQ(response.status, 201) << response.body;
  EXPECT_EQ(unpinned(), Ids{response.json()["announcementId"].asInt64()});
}

TEST_F(AnnouncementApi, UnknownFieldsAreIgnored) {
  const auto body = R"({"title":"t","content":"c","isPinned":false,"id":7,"createdAt":"x",)"
                    R"("deep":{"a":[1,{"b":null}]}})";
  const auto response = call("POST", "/announcements", body);
  ASSERT_EQ(response.status, 201) << response.body;
  const auto id = response.json()["announcementId"].asInt64();
  EXPECT_EQ(call("PATCH", path(id), R"({"title":"u","content":"d","isPinned":true})").status, 200);
  EXPECT_EQ(call("PATCH", path(id) + "/pin", R"({"pinned":false,"title":5})").status, 200);
  EXPECT_EQ(unpinned(), Ids{id});
}

TEST_F(AnnouncementApi, TextsAreLimitedInCharactersNotBytes) {
  for (const auto* character : {"가", "😀", "a"}) {
    const auto most = text(repeated(character, 50), repeated(character, 3000));
    const auto response =
        call("POST", "/announcements",
             announcement(false, repeated(character, 50), repeated(character, 3000)));
    ASSERT_EQ(response.status, 201) << response.body;
    EXPECT_EQ(response.json()["title"].asString(), repeated(character, 50));
    EXPECT_EQ(response.json()["content"].asString(), repeated(character, 3000));
    EXPECT_EQ(call("PATCH", path(response.json()["announcementId"].asInt64()), most).status, 200);
  }
}

TEST_F(AnnouncementApi, TextsOneCharacterTooLongAre422OnTheirField) {
  const auto p = path(create(false));
  const auto before = list().body;
  const auto longTitle = repeated("가", 51);
  const auto longContent = repeated("가", 3001);
  for (const auto& response : {call("POST", "/announcements", announcement(true, longTitle)),
                               call("PATCH", p, text(longTitle, "c"))}) {
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"title"});
  }
  for (const auto& response : {call("POST", "/announcements", announcement(true, "t", longContent)),
                               call("PATCH", p, text("t", longContent))}) {
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{"content"});
  }
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, BlankTextsAre422OnTheirField) {
  for (const auto* blank : {"", " ", "\\t\\n ", "\u3000", "\u00a0"}) {
    const auto response = call("POST", "/announcements", announcement(false, blank, blank));
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), (std::set<std::string>{"title", "content"}));
  }
}

TEST_F(AnnouncementApi, ValidationNamesEveryWrongFieldWithAMessage) {
  const auto response = call("POST", "/announcements", "{}");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), (std::set<std::string>{"title", "content"}));
  const auto problem = response.json();
  for (const auto& error : problem["errors"]) {
    EXPECT_EQ(namesIn(error), (std::set<std::string>{"field", "message"}));
    EXPECT_FALSE(error["message"].asString().empty());
  }
  const auto p = path(create(false));
  EXPECT_EQ(rejectedFields(call("PATCH", p, "{}")), (std::set<std::string>{"title", "content"}));
  for (const auto* notBoolean : {"\"true\"", "0", "1", "[]", "{}"}) {
    EXPECT_EQ(
        rejectedFields(call("PATCH", p + "/pin", R"({"pinned":)" + std::string(notBoolean) + "}")),
        std::set<std::string>{"pinned"})
        << notBoolean;
    EXPECT_EQ(rejectedFields(call(
                  "POST", "/announcements",
                  R"({"title":"t","content":"c","isPinned":)" + std::string(notBoolean) + "}")),
              std::set<std::string>{"isPinned"})
        << notBoolean;
  }
}

TEST_F(AnnouncementApi, AnAnnouncementIsNotPinnedUnlessItSaysSo) {
  for (const auto* body :
       {R"({"title":"t","content":"c"})", R"({"title":"t","content":"c","isPinned":null})"}) {
    const auto response = call("POST", "/announcements", body);
    ASSERT_EQ(response.status, 201) << response.body;
    EXPECT_EQ(response.json()["isPinned"], Json::Value(false)) << body;
  }
  EXPECT_EQ(pinned(), Ids{});
}

TEST_F(AnnouncementApi, APinChangeWithoutAValueUnpins) {
  for (const auto* body : {"{}", R"({"pinned":null})"}) {
    const auto id = create(true);
    const auto response = call("PATCH", path(id) + "/pin", body);
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.json()["isPinned"], Json::Value(false)) << body;
    EXPECT_EQ(pinned(), Ids{});
  }
}

TEST_F(AnnouncementApi, WritingNeedsACouncilOrAnAdmin) {
  const auto p = path(create(false));
  const std::vector<std::array<std::string, 3>> writes{
      {"POST", "/announcements", announcement(false)},
      {"PATCH", p, text("t", "c")},
      {"PATCH", p + "/pin", R"({"pinned":true})"},
      {"DELETE", p, "{}"}};
  const auto before = list().body;
  for (const auto& [method, where, body] : writes) {
    SCOPED_TRACE(method + where);
    expectProblem(client.send(method, where, body), 401, "UNAUTHENTICATED");
    expectProblem(client.send(method, where, body, asUser()), 403, "FORBIDDEN");
  }
  EXPECT_EQ(list().body, before);
}

TEST_F(AnnouncementApi, AdminWritesInTheFestivalOfItsToken) {
  const auto created = asAdmin("POST", "/announcements", announcement(false));
  ASSERT_EQ(created.status, 201) << created.body;
  const auto id = created.json()["announcementId"].asInt64();
  EXPECT_EQ(idsOf(client.get("/announcements", {{"festival", "1"}}).json()["unpinned"]), Ids{id});
  EXPECT_EQ(asAdmin("PATCH", path(id), text("t", "c")).status, 200);
  EXPECT_EQ(asAdmin("PATCH", path(id) + "/pin", R"({"pinned":true})").status, 200);
  expectProblem(asAdmin("DELETE", path(create(false)), "{}"), 403, "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  EXPECT_EQ(asAdmin("DELETE", path(id), "{}").status, 204);
}

TEST_F(AnnouncementApi, CouncilOfAFestivalThatIsGoneGets404) {
  const auto token = TokenService(secret(), std::chrono::hours(1))
                         .issue({"ghost", 1, Realm::kCouncil, 999'999'999, {"ROLE_COUNCIL"}});
  expectProblem(client.send("POST", "/announcements", announcement(true), bearing(token)), 404,
                "FESTIVAL_NOT_FOUND");
  expectProblem(client.send("POST", "/announcements", announcement(false), bearing(token)), 404,
                "FESTIVAL_NOT_FOUND");
}

}  // namespace festa::test
