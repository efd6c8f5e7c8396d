// What all things of a festival have in common: line-up, dates, events, questions, lost items.
#include "tests/http/api_test.h"

namespace festa::test {

namespace {

// `%DATE%` in a body stands for the id of a date of the test's festival.
struct ItemKind {
  std::string name;     // of the test
  std::string path;     // of POST; PATCH and DELETE have "/{id}" behind it
  std::string listed;   // of GET
  std::string table;    // in the database
  std::string idField;  // of an answer
  std::string code;     // LINEUP of LINEUP_NOT_FOUND
  std::string body;
  std::string changed;
  std::set<std::string> fields;      // of an element of the list
  std::set<std::string> required;    // of a request
  std::set<std::string> afterPatch;  // of the answer to PATCH
  std::string row;  // columns and values of a row, for SQL: "a, b) VALUES ($1, …"
};

std::vector<ItemKind> allKinds() {
  return {
      {"Lineups",
       "/lineups",
       "/lineups",
       "lineups",
       "lineupId",
       "LINEUP",
       R"({"name":"밴드","imageUrl":"https://example.com/a.jpg","performanceAt":"2026-05-20T18:00:00"})",
       R"({"name":"다른 밴드","imageUrl":"http://example.com/b.jpg","performanceAt":"2026-05-21T18:00:00"})",
       {"lineupId", "name", "imageUrl", "performanceAt"},
       {"name", "performanceAt"},
       {"lineupId", "name", "imageUrl", "performanceAt"},
       "name, image_url, performance_at) SELECT $1::bigint, 'n' || i, '', now()"},
      {"EventDates",
       "/event-dates",
       "/event-dates",
       "event_dates",
       "eventDateId",
       "EVENT_DATE",
       R"({"date":"2027-05-20"})",
       R"({"date":"2027-05-21"})",
       {"eventDateId", "date"},
       {"date"},
       {"eventDateId", "date"},
       "date) SELECT $1::bigint, date '2030-01-01' + i"},
      {"Events",
       "/event-dates/events",
       "/event-dates/%DATE%/events",
       "events",
       "eventId",
       "EVENT",
       R"({"eventDateId":%DATE%,"startTime":"10:00","endTime":"11:30","title":"제목","location":"무대"})",
       R"({"eventDateId":%DATE%,"startTime":"10:15","endTime":"12:00","title":"바뀜","location":"강당"})",
       {"eventId", "status", "startTime", "endTime", "title", "location"},
       {"eventDateId", "startTime", "endTime", "title", "location"},
       {"eventId", "status", "startTime", "endTime", "title", "location"},
       "event_date_id, start_time, end_time, title, location)"
       " SELECT $1::bigint, (SELECT max(id) FROM event_dates WHERE festival_id = $1::bigint),"
       " time '10:00', time '11:00', 't', 'l'"},
      {"Questions",
       "/questions",
       "/questions",
       "questions",
       "questionId",
       "QUESTION",
       R"({"question":"질문?","answer":"답."})",
       R"({"question":"다른 질문?","answer":"다른 답."})",
       {"questionId", "question", "answer", "sequence"},
       {"question", "answer"},
       {"questionId", "question", "answer"},
       "question, answer, sequence) SELECT $1::bigint, 'q', 'a', 100 + i"},
      {"LostItems",
       "/lost-items",
       "/lost-items",
       "lost_items",
       "lostItemId",
       "LOST_ITEM",
       R"({"imageUrl":"https://example.com/a.jpg","storageLocation":"학생회관"})",
       R"({"imageUrl":"https://example.com/b.jpg","storageLocation":"본부"})",
       {"lostItemId", "imageUrl", "storageLocation", "pickupStatus", "createdAt"},
       {"imageUrl", "storageLocation"},
       {"lostItemId", "imageUrl", "storageLocation"},
       "image_url, storage_location) SELECT $1::bigint, 'https://example.com/a', 's'"},
  };
}

class FestivalItemsApi : public ApiTest, public testing::WithParamInterface<ItemKind> {
 protected:
  FestivalItemsApi() {
    const auto made = call("POST", "/event-dates", R"({"date":"2026-05-20"})");
    EXPECT_EQ(made.status, 201) << made.body;
    dateId_ = made.json()["eventDateId"].asString();
    if (kind().table == "event_dates") {
      EXPECT_EQ(call("DELETE", "/event-dates/" + dateId_).status, 204);
    }
  }

  static const ItemKind& kind() { return GetParam(); }
  std::string filled(std::string text) const {
    for (auto at = text.find("%DATE%"); at != std::string::npos; at = text.find("%DATE%"))
      text.replace(at, 6, dateId_);
    return text;
  }
  std::string body() const { return filled(kind().body); }
  std::string changed() const { return filled(kind().changed); }
  Headers asReader() const { return {{"festival", std::to_string(festival)}}; }
  Response list() { return client.get(filled(kind().listed), asReader()); }
  std::string create() {
    const auto made = call("POST", kind().path, body());
    EXPECT_EQ(made.status, 201) << made.body;
    return made.json()[kind().idField].asString();
  }
  std::string one(const std::string& id) const { return kind().path + '/' + id; }

  std::string dateId_;
};

std::string nameOfKind(const testing::TestParamInfo<ItemKind>& info) {
  return info.param.name;
}

}  // namespace

TEST_P(FestivalItemsApi, ACouncilMakesChangesAndDeletesAndEverybodyReads) {
  EXPECT_EQ(list().body, "[]");
  const auto made = call("POST", kind().path, body());
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(namesIn(made.json()), kind().fields);
  ASSERT_EQ(list().json().size(), 1U);
  EXPECT_EQ(list().json()[0], made.json());

  const auto id = made.json()[kind().idField].asString();
  const auto edited = call("PATCH", one(id), changed());
  ASSERT_EQ(edited.status, 200) << edited.body;
  EXPECT_EQ(namesIn(edited.json()), kind().afterPatch);
  for (const auto& name : kind().afterPatch) EXPECT_EQ(edited.json()[name], list().json()[0][name]);
  EXPECT_NE(list().json()[0], made.json());

  const auto gone = call("DELETE", one(id));
  EXPECT_EQ(gone.status, 204);
  EXPECT_EQ(gone.body, "");
  EXPECT_EQ(list().body, "[]");
}

TEST_P(FestivalItemsApi, OnlyCouncilsAndAdminsWrite) {
  const auto id = create();
  const auto before = list().body;
  for (const auto& [who, status, code] :
       {std::tuple{Headers{}, 401, "UNAUTHENTICATED"}, std::tuple{asUser(), 403, "FORBIDDEN"}}) {
    expectProblem(client.send("POST", kind().path, body(), who), status, code);
    expectProblem(client.send("PATCH", one(id), changed(), who), status, code);
    expectProblem(client.request("DELETE", one(id), who), status, code);
  }
  EXPECT_EQ(list().body, before);
}

// An admin is a council of festival 1 (docs/api.md).
TEST_P(FestivalItemsApi, AnAdminWritesAsTheCouncilOfItsFestival) {
  const auto own = inDatabase("SELECT festival_id FROM councils WHERE username = 'admin'");
  ASSERT_NE(own, std::to_string(festival));
  const auto date = asAdmin("POST", "/event-dates", R"({"date":"2031-01-01"})");
  ASSERT_EQ(date.status, 201) << date.body;
  dateId_ = date.json()["eventDateId"].asString();

  const auto made = asAdmin("POST", kind().path, body());
  ASSERT_EQ(made.status, 201) << made.body;
  const auto id = made.json()[kind().idField].asString();
  const auto festivalOfRow = [&] {
    return inDatabase(
        "SELECT coalesce(max(festival_id), 0) FROM " + kind().table + " WHERE id = $1::bigint",
        {id});
  };
  EXPECT_EQ(festivalOfRow(), own);
  const auto edited = asAdmin("PATCH", one(id), changed());
  EXPECT_EQ(edited.status, 200) << edited.body;
  const auto listed = client.get(filled(kind().listed), {{"festival", own}}).json();
  const auto row = std::find_if(listed.begin(), listed.end(), [&](const Json::Value& item) {
    return item[kind().idField].asString() == id;
  });
  ASSERT_NE(row, listed.end());
  for (const auto& name : kind().afterPatch) EXPECT_EQ(edited.json()[name], (*row)[name]) << name;
  EXPECT_EQ(client.request("DELETE", one(id), service->as("admin")).status, 204);
  EXPECT_EQ(festivalOfRow(), "0") << "it is still there";
  EXPECT_EQ(client.request("DELETE", "/event-dates/" + dateId_, service->as("admin")).status, 204);
}

TEST_P(FestivalItemsApi, AnAdminIsAStrangerInOtherFestivals) {
  const auto id = create();
  expectProblem(asAdmin("PATCH", one(id), changed()), 403, kind().code + "_NOT_IN_FESTIVAL");
  expectProblem(asAdmin("PATCH", one("9223372036854775807"), changed()), 404,
                kind().code + "_NOT_FOUND");
}

TEST_P(FestivalItemsApi, AnotherFestivalsRowIs403AndStaysAsItIs) {
  const auto id = create();
  const auto before = list().body;
  const auto stranger = service->newFestival();
  const auto code = kind().code + "_NOT_IN_FESTIVAL";
  expectProblem(client.send("PATCH", one(id), changed(), stranger), 403, code);
  expectProblem(client.request("DELETE", one(id), stranger), 403, code);
  EXPECT_EQ(list().body, before);
}

TEST_P(FestivalItemsApi, UnknownRowsAre404AndBadIdsAre400) {
  const auto code = kind().code + "_NOT_FOUND";
  expectProblem(call("PATCH", one("9223372036854775807"), changed()), 404, code);
  expectProblem(call("DELETE", one("9223372036854775807")), 404, code);
  for (const auto* id : {"0", "-1", "abc", "1.5", "9223372036854775808"}) {
    expectProblem(call("PATCH", one(id), changed()), 400, "INVALID_PARAMETER");
    expectProblem(call("DELETE", one(id)), 400, "INVALID_PARAMETER");
  }
}

TEST_P(FestivalItemsApi, EachMissingFieldIsNamed) {
  const auto id = create();
  for (const auto& response : {call("POST", kind().path, "{}"), call("PATCH", one(id), "{}")}) {
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), kind().required);
  }
  expectProblem(call("POST", kind().path, "[]"), 400, "MALFORMED_JSON");
  expectProblem(call("POST", kind().path, "{"), 400, "MALFORMED_JSON");
}

TEST_P(FestivalItemsApi, FieldsOfAnotherTypeAreNamed) {
  auto wrong = Json::Value(Json::objectValue);
  for (const auto& name : kind().required) wrong[name] = Json::Value(Json::arrayValue);
  const auto response =
      call("POST", kind().path, Json::writeString(Json::StreamWriterBuilder(), wrong));
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response), kind().required);
}

TEST_P(FestivalItemsApi, AnUploadIs415) {
  expectProblem(client.request("POST", "/images", council, "x"), 404, "ROUTE_NOT_FOUND");
  auto headers = council;
  headers["Content-Type"] = "multipart/form-data; boundary=x";
  expectProblem(client.request("POST", kind().path, headers,
                               "--x\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\n1\r\n"
                               "--x--\r\n"),
                415, "UNSUPPORTED_MEDIA_TYPE");
}

TEST_P(FestivalItemsApi, ReadersSayWhichFestival) {
  const auto path = filled(kind().listed);
  expectProblem(client.get(path), 400, "INVALID_PARAMETER");
  expectProblem(client.get(path, {{"festival", "abc"}}), 400, "INVALID_PARAMETER");
  const auto unknown = client.get(path, {{"festival", "9223372036854775807"}});
  expectProblem(unknown, 404,
                kind().table == "events" ? "EVENT_DATE_NOT_FOUND" : "FESTIVAL_NOT_FOUND");
  create();
  service->newFestival();
  const Headers other{{"festival", std::to_string(service->lastFestival())}};
  if (kind().table == "events")
    expectProblem(client.get(path, other), 404, "EVENT_DATE_NOT_FOUND");
  else
    EXPECT_EQ(client.get(path, other).body, "[]");
}

TEST_P(FestivalItemsApi, AListThatTheClientHasIs304) {
  create();
  const auto first = list();
  auto headers = asReader();
  headers["If-None-Match"] = first.header("etag");
  const auto again = client.get(filled(kind().listed), headers);
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  const auto edited =
      call("PATCH", one(first.json()[0][kind().idField].asString()), changed()).status;
  EXPECT_EQ(edited, 200);
  EXPECT_EQ(client.get(filled(kind().listed), headers).status, 200) << "a write shows at once";
}

TEST_P(FestivalItemsApi, AFestivalHasAtMost500) {
  PgSession(service->database())
      .query("INSERT INTO " + kind().table + " (festival_id, " + kind().row +
                 " FROM generate_series(1, 500) AS i",
             {std::to_string(festival)});
  expectProblem(call("POST", kind().path, body()), 409, "FESTIVAL_LIMIT_EXCEEDED");
  EXPECT_EQ(inDatabase("SELECT count(*) FROM " + kind().table + " WHERE festival_id = $1::bigint",
                       {std::to_string(festival)}),
            "500");
}

TEST_P(FestivalItemsApi, ARepeatedKeyHasOneEffect) {
  auto headers = council;
  headers["Idempotency-Key"] = "items-" + kind().name + std::to_string(festival);
  const auto first = client.send("POST", kind().path, body(), headers);
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(client.send("POST", kind().path, body(), headers).body, first.body);
  EXPECT_EQ(list().json().size(), 1U);
  const auto id = first.json()[kind().idField].asString();
  headers["Idempotency-Key"] += "-patch";
  const auto edited = client.send("PATCH", one(id), changed(), headers);
  ASSERT_EQ(edited.status, 200);
  EXPECT_EQ(client.send("PATCH", one(id), changed(), headers).body, edited.body);
  headers["Idempotency-Key"] += "-delete";
  EXPECT_EQ(client.request("DELETE", one(id), headers).status, 204);
  EXPECT_EQ(client.request("DELETE", one(id), headers).status, 204);
}

INSTANTIATE_TEST_SUITE_P(All, FestivalItemsApi, testing::ValuesIn(allKinds()), nameOfKind);

}  // namespace festa::test
