#include "tests/http/seats/performance_test.h"

namespace festa::test {

namespace {

class PerformanceApi : public PerformanceTest {};

}  // namespace

TEST_F(PerformanceApi, AnAdminCreatesOneThatEverybodyCanRead) {
  const auto response = create(newPerformance());
  ASSERT_EQ(response.status, 200) << response.body;
  const auto content = response.json()["content"];
  const auto id = std::to_string(content["id"].asInt64());
  EXPECT_THAT(content["createdAt"].asString(),
              testing::MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{6}"));
  EXPECT_EQ(response.body,
            R"({"content":{"id":)" + id +
                R"(,"place":{"id":1,"name":"페스타 아레나","location":"서울","maxSeat":50000},)"
                R"("category":"CONCERT","startAt":"2030-05-20T18:00:00.000000",)"
                R"("endAt":"2030-05-20T20:30:00.500000",)"
                R"("startReservationAt":"2030-05-01T00:00:00.000000",)"
                R"("endReservationAt":"2030-05-20T17:00:00.000000","title":"봄밤",)"
                R"("content":"\"봄밤\" 콘서트","acting":"코루틴 밴드","filmRating":"TWELVE",)"
                R"("price":50000,"createdAt":")" +
                content["createdAt"].asString() + R"(","updatedAt":")" +
                content["updatedAt"].asString() + "\"}," + kOkMeta + "}");
  const auto read = client.get("/performances/" + id);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, response.body);
  EXPECT_EQ(inDatabase("SELECT start_at AT TIME ZONE 'UTC' FROM performances WHERE id = $1::bigint",
                       {id}),
            "2030-05-20 09:00:00")
      << "times are the configured zone's";
}

TEST_F(PerformanceApi, MoreSeatsThanThePlaceHasAre409AndNothingIsStored) {
  const auto before = performances();
  expectProblem(create(newPerformance("seats", R"([{"location":"A","seatCount":50000},)"
                                               R"({"location":"B","seatCount":1}])")),
                409, "PLACE_SEATS_EXCEEDED");
  expectProblem(create(newPerformance("placeId", "999999999")), 404, "PLACE_NOT_FOUND");
  EXPECT_EQ(performances(), before);
}

TEST_F(PerformanceApi, OnlyAnAdminCreatesThem) {
  const auto before = performances();
  expectProblem(client.send("POST", "/performance", newPerformance()), 401, "UNAUTHENTICATED");
  expectProblem(client.send("POST", "/performance", newPerformance(), bearing("x")), 401,
                "UNAUTHENTICATED");
  expectProblem(call("POST", "/performance", newPerformance()), 403, "FORBIDDEN");
  expectProblem(client.send("POST", "/performance", newPerformance(), asUser()), 403, "FORBIDDEN");
  EXPECT_EQ(performances(), before);
}

TEST_F(PerformanceApi, EachMissingFieldIsNamedOnce) {
  const auto response = create("{}");
  expectProblem(response, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(response),
            (std::set<std::string>{"placeId", "category", "startAt", "endAt", "startReservationAt",
                                   "endReservationAt", "title", "content", "acting", "filmRating",
                                   "price", "seats"}));
  EXPECT_EQ(response.json()["errors"].size(), 12U);
}

TEST_F(PerformanceApi, WrongValuesAre422OnTheirField) {
  const auto before = performances();
  const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
  std::string sections = "[";
  for (int i = 0; i <= 1000; ++i)
    sections += R"({"location":")" + std::to_string(i) + R"(","seatCount":1},)";
  sections.back() = ']';
  const std::vector<std::array<std::string, 3>> wrong{
      {"placeId", "0", "placeId"},
      {"category", R"("OPERA")", "category"},
      {"filmRating", R"("EIGHTEEN")", "filmRating"},
      {"startAt", R"("2030-02-30 18:00:00")", "startAt"},
      {"startAt", R"("2030-05-20T18:00:00z")", "startAt"},
      {"endAt", R"("2030-05-20 17:59:59")", "endAt"},
      {"endReservationAt", R"("2030-04-30T23:59:59.999999")", "endReservationAt"},
      {"price", "-1", "price"},
      {"price", "1.5", "price"},
      {"title", quoted(repeated("가", 101)), "title"},
      {"content", quoted(repeated("가", 3001)), "content"},
      {"acting", quoted(repeated("가", 201)), "acting"},
      {"acting", R"(" ")", "acting"},
      {"seats", "[]", "seats"},
      {"seats", "{}", "seats"},
      {"seats", sections, "seats"},
      {"seats", "[1]", "seats[0]"},
      {"seats", R"([{"location":"A","seatCount":0}])", "seats[0].seatCount"},
      {"seats", R"([{"location":"A","seatCount":50001}])", "seats[0].seatCount"},
      {"seats", R"([{"location":" ","seatCount":1}])", "seats[0].location"},
      {"seats", R"([{"location":")" + repeated("가", 21) + R"(","seatCount":1}])",
       "seats[0].location"},
      {"seats", R"([{"location":"A","seatCount":1},{"location":"A","seatCount":1}])",
       "seats[1].location"}};
  for (const auto& [field, value, rejected] : wrong) {
    SCOPED_TRACE(field + ": " + value.substr(0, 60));
    const auto response = create(newPerformance(field, value));
    expectProblem(response, 422, "VALIDATION_FAILED");
    EXPECT_EQ(rejectedFields(response), std::set<std::string>{rejected});
  }
  EXPECT_EQ(performances(), before);
}

TEST_F(PerformanceApi, EqualStartsAndEndsAndAPriceOfZeroAreValid) {
  created("endAt", R"("2030-05-20 18:00:00")");
  created("endReservationAt", R"("2030-05-01 00:00:00")");
  created("price", "0");
}

TEST_F(PerformanceApi, ListsAreReadByPageAndByTheLastId) {
  std::vector<std::int64_t> made;
  for (int i = 0; i < 5; ++i) made.push_back(created());
  const auto total = std::stoll(performances());
  const auto before = std::to_string(made.front() - 1);
  EXPECT_EQ(idsIn(client.get("/performances?perPage=3&after=" + before)),
            (std::vector<std::int64_t>{made[0], made[1], made[2]}));
  EXPECT_EQ(idsIn(client.get("/performances?perPage=3&after=" + std::to_string(made[2]))),
            (std::vector<std::int64_t>{made[3], made[4]}));
  const auto beyond = client.get("/performances?after=9223372036854775807").json();
  EXPECT_EQ(beyond["items"].size(), 0U);
  EXPECT_EQ(beyond["paging"]["totalCount"].asInt64(), total);

  const auto last = client.get("/performances?perPage=1&page=" + std::to_string(total - 1));
  EXPECT_EQ(idsIn(last), std::vector<std::int64_t>{made.back()});
  const auto paging = last.json()["paging"];
  EXPECT_EQ(paging["totalCount"].asInt64(), total);
  EXPECT_EQ(paging["currentPage"].asInt64(), total - 1);
  EXPECT_EQ(paging["perPage"].asInt64(), 1);
  EXPECT_EQ(paging["totalPage"].asInt64(), total);
  EXPECT_EQ(client.get("/performances?page=1000000").json()["items"].size(), 0U);
}

TEST_F(PerformanceApi, AClientThatHasOneOrAPageGets304) {
  const auto id = created();
  for (const auto& path :
       {"/performances/" + std::to_string(id), "/performances?after=" + std::to_string(id - 1)}) {
    const auto first = client.get(path);
    ASSERT_EQ(first.status, 200) << path;
    const auto tag = first.header("etag");
    ASSERT_FALSE(tag.empty()) << path;
    const auto again = client.get(path, {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.header("etag"), tag);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(client.get(path, {{"If-None-Match", R"("another")"}}).body, first.body);
  }
}

// The list was rendered a moment ago.
TEST_F(PerformanceApi, ANewOneIsListedAtOnce) {
  const auto path = "/performances?perPage=500&after=" + std::to_string(created() - 1);
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(idsIn(client.get(path)).size(), i);
    const auto id = created();
    EXPECT_EQ(idsIn(client.get(path)).back(), id);
  }
}

TEST_F(PerformanceApi, ATimeWithAnOffsetIsThatMomentInOurZone) {
  for (const auto* written : {R"("2030-05-20T09:00:00Z")", R"("2030-05-20T18:00:00+09:00")",
                              R"("2030-05-19T23:00-10:00")"}) {
    const auto made = create(newPerformance("startAt", written));
    ASSERT_EQ(made.status, 200) << made.body;
    EXPECT_EQ(made.json()["content"]["startAt"].asString(), "2030-05-20T18:00:00.000000");
  }
}

TEST_F(PerformanceApi, ATimeWithAnOffsetIsInOrderWithTheOthers) {
  // The performance ends at 20:30:00.5, which is 11:30:00.5 in UTC.
  EXPECT_EQ(create(newPerformance("startAt", R"("2030-05-20T11:30:00.5Z")")).status, 200);
  const auto late = create(newPerformance("startAt", R"("2030-05-20T11:30:00.6Z")"));
  expectProblem(late, 422, "VALIDATION_FAILED");
  EXPECT_EQ(rejectedFields(late), std::set<std::string>{"endAt"});
  // Sales begin at 2030-05-01T00:00.
  const auto early = create(newPerformance("endReservationAt", R"("2030-05-01T00:00:00+09:01")"));
  EXPECT_EQ(rejectedFields(early), std::set<std::string>{"endReservationAt"});
}

TEST_F(PerformanceApi, ListedPerformancesHaveTheFieldsOfASingleOne) {
  const auto list = client.get("/performances?perPage=1");
  ASSERT_EQ(list.status, 200) << list.body;
  EXPECT_EQ(namesIn(list.json()), (std::set<std::string>{"items", "meta", "paging"}));
  EXPECT_EQ(list.json()["items"][0], client.get("/performances/1").json()["content"]);
  EXPECT_EQ(client.get("/performances").json()["paging"]["perPage"].asInt(), 10);
}

TEST_F(PerformanceApi, WrongParametersAre400) {
  for (const auto* query : {"page=-1", "page=x", "perPage=0", "perPage=501", "perPage=", "after=-1",
                            "after=1.5", "page=0&after=0", "page=9223372036854775807"}) {
    SCOPED_TRACE(query);
    expectProblem(client.get(std::string("/performances?") + query), 400, "INVALID_PARAMETER");
  }
  for (const auto* id : {"x", "0", "-1", "1.0", "9223372036854775808"}) {
    SCOPED_TRACE(id);
    expectProblem(client.get(std::string("/performances/") + id), 400, "INVALID_PARAMETER");
    expectProblem(client.get(std::string("/performances/") + id + "/seats"), 400,
                  "INVALID_PARAMETER");
  }
  for (const auto* location : {"%FF", "A%00", "123456789012345678901"}) {
    SCOPED_TRACE(location);
    expectProblem(client.get(std::string("/performances/1/seats?location=") + location), 400,
                  "INVALID_PARAMETER");
  }
}

TEST_F(PerformanceApi, UnknownOnesAre404) {
  expectProblem(client.get("/performances/999999999"), 404, "PERFORMANCE_NOT_FOUND");
  expectProblem(client.get(seatsPath(999'999'999)), 404, "PERFORMANCE_NOT_FOUND");
  expectProblem(client.get(seatsPath(999'999'999) + "?location=A"), 404, "PERFORMANCE_NOT_FOUND");
}

TEST_F(PerformanceApi, RefusalsHaveTheEnvelopesMeta) {
  expectProblem(create("{"), 400, "MALFORMED_JSON");
  auto headers = service->as("admin");
  headers["Content-Type"] = "text/plain";
  expectProblem(client.request("POST", "/performance", headers, "{}"), 415,
                "UNSUPPORTED_MEDIA_TYPE");
  expectProblem(create(std::string(1024 * 1024 + 1, ' ')), 413, "BODY_TOO_LARGE");
  expectProblem(client.get("/performance"), 405, "METHOD_NOT_ALLOWED");
  expectProblem(client.send("POST", "/performances", "{}"), 405, "METHOD_NOT_ALLOWED");
  expectProblem(client.send("DELETE", "/performances/1/seats", "{}"), 405, "METHOD_NOT_ALLOWED");
  expectProblem(client.get("/performances/1/nothing"), 404, "ROUTE_NOT_FOUND");
}

TEST_F(PerformanceApi, AStatementThatWaitsTooLongForAnotherIs503) {
  // One that has not been rendered.
  const auto one = "/performances/" + std::to_string(created());
  const auto before = performances();
  PgSession other(service->database());
  other.run("BEGIN; LOCK TABLE performances, seats");
  for (const auto& path : {std::string("/performances?perPage=77"), one, one + "/seats"}) {
    SCOPED_TRACE(path);
    const auto response = client.get(path);
    expectProblem(response, 503, "LOCK_TIMEOUT");
    EXPECT_FALSE(response.header("retry-after").empty());
  }
  expectProblem(create(newPerformance()), 503, "LOCK_TIMEOUT");
  other.run("ROLLBACK");
  EXPECT_EQ(client.get(one + "/seats").status, 200) << "failures are not kept";
  EXPECT_EQ(performances(), before);
}

TEST(PerformancesAndUsers, WithoutDatabaseAre503) {
  PgServer pg;
  const Service service(pg.createDatabase(), {{"DATABASE_POOL_TIMEOUT_MS", "300"}});
  const auto admin = service.as("admin");
  auto client = service.client();
  pg.kill();
  for (const auto* path : {"/performances", "/performances/1", "/performances/1/seats"}) {
    SCOPED_TRACE(path);
    expectProblem(client.get(path), 503, "DATABASE_UNAVAILABLE");
  }
  expectProblem(client.send("POST", "/performance", newPerformance(), admin), 503,
                "DATABASE_UNAVAILABLE");
  expectProblem(client.send("POST", "/users/login", R"({"userId":"user1","userPw":"user-demo-1"})"),
                503, "DATABASE_UNAVAILABLE");
}

}  // namespace festa::test
