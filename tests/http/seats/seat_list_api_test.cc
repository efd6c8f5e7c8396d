#include "tests/http/seats/performance_test.h"
#include "tests/support/http/rush.h"
#include "tests/support/loops.h"

#include <iostream>

namespace festa::test {

namespace {

class SeatListApi : public PerformanceTest {
 protected:
  static void reserve(std::int64_t id, const std::string& location, int number) {
    PgSession(service->database())
        .query(
            "UPDATE seats SET is_reserved = true"
            " WHERE performance_id = $1::bigint AND location = $2 AND number = $3::int",
            {std::to_string(id), location, std::to_string(number)});
  }
};

}  // namespace

TEST_F(SeatListApi, EverySeatOfEverySectionIsListedByLocationAndNumber) {
  const auto id = created(
      "seats", R"([{"location":"나","seatCount":1},{"location":"B \"1\\,{}","seatCount":2}])");
  reserve(id, "B \"1\\,{}", 2);
  const auto response = client.get(seatsPath(id));
  ASSERT_EQ(response.status, 200) << response.body;
  const auto ids = idsIn(response);
  ASSERT_EQ(ids.size(), 3U);
  const auto item = [&](std::size_t i, const std::string& rest) {
    return R"({"id":)" + std::to_string(ids[i]) + ',' + rest + '}';
  };
  EXPECT_EQ(response.body,
            R"({"items":[)" + item(0, R"("location":"B \"1\\,{}","number":1,"isReserved":false)") +
                ',' + item(1, R"("location":"B \"1\\,{}","number":2,"isReserved":true)") + ',' +
                item(2, R"("location":"나","number":1,"isReserved":false)") + "]," + kOkMeta +
                R"(,"paging":{"totalCount":3,"currentPage":0,"perPage":3,"totalPage":1}})");
}

TEST_F(SeatListApi, SeatsOfOneLocation) {
  const auto id = created();
  const auto json = client.get(seatsPath(id) + "?location=B").json();
  ASSERT_EQ(json["items"].size(), 2U);
  for (const auto& seat : json["items"]) EXPECT_EQ(seat["location"].asString(), "B");
  EXPECT_EQ(json["paging"]["totalCount"].asInt(), 2);
  const auto none = client.get(seatsPath(id) + "?location=%EA%B0%80");
  ASSERT_EQ(none.status, 200) << none.body;
  EXPECT_EQ(none.json()["items"].size(), 0U);
  EXPECT_EQ(none.json()["paging"]["totalPage"].asInt(), 0);
}

TEST_F(SeatListApi, AClientThatHasTheListGets304) {
  const auto id = created();
  const auto first = client.get(seatsPath(id));
  const auto etag = first.header("etag");
  ASSERT_THAT(etag, testing::MatchesRegex("\"[0-9A-Fa-f]{32}\""));
  for (const auto& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
    SCOPED_TRACE(known);
    const auto response = client.get(seatsPath(id), {{"If-None-Match", known}});
    EXPECT_EQ(response.status, 304);
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(response.header("etag"), etag);
  }
  EXPECT_EQ(client.get(seatsPath(id), {{"If-None-Match", "\"other\""}}).body, first.body);
}

TEST_F(SeatListApi, ASaleChangesTheListAndItsTag) {
  const auto id = created();
  const auto etag = client.get(seatsPath(id)).header("etag");
  EXPECT_NE(client.get(seatsPath(id) + "?location=A").header("etag"), etag);
  reserve(id, "A", 2);
  Response changed;
  ASSERT_TRUE(eventually([&] {
    changed = client.get(seatsPath(id), {{"If-None-Match", etag}});
    return changed.status == 200;
  }));
  EXPECT_NE(changed.header("etag"), etag);
  EXPECT_TRUE(changed.json()["items"][1]["isReserved"].asBool());
}

TEST_F(SeatListApi, ManyRequestsAtOnceGetTheSameList) {
  const auto id = created();
  const auto answers =
      rush(service->port(), 16, [&](HttpClient& rusher, int) { return rusher.get(seatsPath(id)); });
  for (const auto& answer : answers) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, answers[0].body);
  }
}

TEST_F(SeatListApi, AHallOfFiftyThousandSeatsIsMadeAndListed) {
  std::string sections;
  for (int i = 0; i < 1000; ++i)
    sections +=
        (i == 0 ? "[" : ",") + (R"({"location":"S)" + std::to_string(i)) + R"(","seatCount":50})";
  const auto begin = std::chrono::steady_clock::now();
  const auto id = std::to_string(created("seats", sections + ']'));
  const auto taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin);
  std::cout << "50,000 seats made in " << taken.count() << " s\n";
  EXPECT_EQ(inDatabase("SELECT count(*) || ' ' || count(DISTINCT location) || ' ' || max(number)"
                       " FROM seats WHERE performance_id = $1::bigint",
                       {id}),
            "50000 1000 50");
  EXPECT_EQ(inDatabase("SELECT count(DISTINCT cmin::text) FROM seats"
                       " WHERE performance_id = $1::bigint",
                       {id}),
            "1")
      << "one statement writes them";
  const auto response = client.get(seatsPath(std::stoll(id)));
  ASSERT_EQ(response.status, 200) << response.body.substr(0, 500);
  const auto ids = idsIn(response);
  EXPECT_EQ(ids.size(), 50'000U);
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), 50'000U);
  EXPECT_EQ(response.json()["paging"]["perPage"].asInt(), 50'000);
}

TEST_F(SeatListApi, OneSectionMayFillTheHall) {
  const auto id = created("seats", R"([{"location":"ALL","seatCount":50000}])");
  const auto json = client.get(seatsPath(id) + "?location=ALL").json();
  ASSERT_EQ(json["items"].size(), 50'000U);
  EXPECT_EQ(json["items"][49'999]["number"].asInt(), 50'000);
}

}  // namespace festa::test
