// Lists of announcements: pages of at most 1 MiB, tags, and that writes show at once.
#include "tests/http/api_test.h"
#include "tests/support/http/rush.h"
#include "tests/support/loops.h"

#include <atomic>
#include <functional>
#include <limits>
#include <thread>
#include <utility>

namespace festa::test {

namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::size_t kMebi = 1024UL * 1024;
const std::string kList = "/announcements";

std::string announcement(const std::string& title, bool pinned = false) {
  return R"({"title":")" + title + R"(","content":"c","isPinned":)" + (pinned ? "true}" : "false}");
}

Ids idsOf(const Json::Value& list) {
  Ids ids;
  for (const auto& item : list) ids.push_back(item["announcementId"].asInt64());
  return ids;
}

// Path and query of the next page, or "".
std::string nextOf(const Response& response) {
  const auto link = response.header("link");
  if (link.empty()) return "";
  const auto end = link.find('>');
  EXPECT_TRUE(link.starts_with('<')) << link;
  EXPECT_EQ(link.substr(end), R"(>; rel="next")");
  return link.substr(1, end - 1);
}

// Raw: what is asked for again and again is not compared with the OpenAPI document each time.
Response rawList(HttpClient& client, std::int64_t festival) {
  return client.raw("GET /announcements HTTP/1.1\r\nHost: x\r\nfestival: " +
                    std::to_string(festival) + "\r\n\r\n");
}

class AnnouncementListApi : public ApiTest {
 protected:
  Response get(const std::string& path = kList, const std::string& known = "") {
    Headers headers{{"festival", std::to_string(festival)}};
    if (!known.empty()) headers["If-None-Match"] = known;
    return client.get(path, headers);
  }

  // A busy machine may ask to come back. Null when there is another answer than the list.
  static Json::Value listIn(const std::function<Response()>& ask) {
    const auto answer = untilServed(ask);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.status == 200 ? answer.json() : Json::Value();
  }

  // Unpinned ones, whose content has so many characters of 3 bytes, without the service.
  void fill(int count, int characters) {
    PgSession(service->database())
        .query(
            "INSERT INTO announcements (festival_id, title, content, is_pinned)"
            " SELECT $1::bigint, '제목 ' || n, repeat('가', $3::int), false"
            " FROM generate_series(1, $2::int) AS n",
            {std::to_string(festival), std::to_string(count), std::to_string(characters)});
  }
  void setOldestContent(std::size_t length) {
    PgSession(service->database())
        .query(
            "UPDATE announcements SET content = repeat('c', $2::int) WHERE id ="
            " (SELECT min(id) FROM announcements WHERE festival_id = $1::bigint)",
            {std::to_string(festival), std::to_string(length)});
  }
  // What is listed, by the database.
  Ids stored(const std::string& which) {
    const auto rows = PgSession(service->database())
                          .query(
                              "SELECT id FROM announcements WHERE festival_id = $1::bigint"
                              " AND deleted_at IS NULL AND " +
                                  which + " ORDER BY id DESC",
                              {std::to_string(festival)});
    Ids ids;
    for (const auto& row : rows) ids.push_back(std::stoll(*row[0]));
    return ids;
  }
  std::int64_t create(const std::string& title, bool pinned = false) {
    const auto response = call("POST", "/announcements", announcement(title, pinned));
    EXPECT_EQ(response.status, 201) << response.body;
    return response.json()["announcementId"].asInt64();
  }
  static std::string path(std::int64_t id) { return "/announcements/" + std::to_string(id); }

  struct Walk {
    Ids unpinned;
    std::vector<Response> pages;
  };
  Walk walk(const std::string& from = kList) {
    Walk walk;
    for (auto next = from; !next.empty(); next = nextOf(walk.pages.back())) {
      walk.pages.push_back(get(next));
      const auto& page = walk.pages.back();
      EXPECT_EQ(page.status, 200);
      EXPECT_LE(page.body.size(), kMebi);
      for (const auto id : idsOf(page.json()["unpinned"])) walk.unpinned.push_back(id);
    }
    return walk;
  }
};

}  // namespace

TEST_F(AnnouncementListApi, UpToOneMebibyteTheListIsCompleteAndHasNoLink) {
  fill(110, 3000);
  create("pinned", true);
  const auto list = get();
  EXPECT_GT(list.body.size(), kMebi * 9 / 10);
  EXPECT_LE(list.body.size(), kMebi);
  EXPECT_EQ(list.header("link"), "");
  EXPECT_EQ(idsOf(list.json()["pinned"]), stored("is_pinned"));
  EXPECT_EQ(idsOf(list.json()["unpinned"]), stored("NOT is_pinned"));
}

TEST_F(AnnouncementListApi, TheLastByteOfTheMebibyteIsUsed) {
  fill(116, 2900);
  setOldestContent(1);
  const auto spare = kMebi - get().body.size();
  setOldestContent(1 + spare);
  ASSERT_TRUE(eventually([&] { return rawList(client, festival).body.size() == kMebi; }));
  EXPECT_EQ(get().header("link"), "");
  setOldestContent(2 + spare);
  ASSERT_TRUE(eventually([&] { return !rawList(client, festival).header("link").empty(); }));
  const auto all = stored("NOT is_pinned");
  const auto list = get();
  EXPECT_EQ(idsOf(list.json()["unpinned"]), Ids(all.begin(), all.end() - 1));
  EXPECT_EQ(nextOf(list), kList + "?after=" + std::to_string(all[all.size() - 2]));
  EXPECT_EQ(idsOf(get(nextOf(list)).json()["unpinned"]), Ids{all.back()});
}

TEST_F(AnnouncementListApi, LinksLeadToEveryAnnouncementOnce) {
  fill(150, 3000);
  fill(12'000, 0);  // many small ones, too
  fill(150, 3000);
  const auto oldest = stored("NOT is_pinned").back();
  ASSERT_EQ(call("PATCH", path(oldest) + "/pin", R"({"pinned":true})").status, 200);
  create("pinned", true);
  const auto pages = walk();
  EXPECT_EQ(pages.pages.size(), 4U);
  EXPECT_EQ(pages.unpinned, stored("NOT is_pinned"));
  for (std::size_t i = 0; i < pages.pages.size(); ++i) {
    const auto json = pages.pages[i].json();
    EXPECT_EQ(namesIn(json), (std::set<std::string>{"pinned", "unpinned"}));
    EXPECT_EQ(idsOf(json["pinned"]), i == 0 ? stored("is_pinned") : Ids{});
    if (i + 1 < pages.pages.size()) {
      EXPECT_GT(pages.pages[i].body.size(), kMebi * 9 / 10);
    }
  }
}

TEST_F(AnnouncementListApi, LinksHaveThePathPrefixOfTheRequest) {
  fill(150, 3000);
  const auto pages = walk("/api/announcements");
  ASSERT_EQ(pages.pages.size(), 2U);
  EXPECT_TRUE(nextOf(pages.pages[0]).starts_with("/api/announcements?after="));
  EXPECT_EQ(pages.unpinned, stored("NOT is_pinned"));
}

TEST_F(AnnouncementListApi, AfterGivesUnpinnedOnesThatAreOlder) {
  const auto a = create("a"), b = create("b", true), c = create("c"), d = create("d");
  const auto after = [&](std::int64_t id) { return get(kList + "?after=" + std::to_string(id)); };
  EXPECT_EQ(idsOf(after(d).json()["unpinned"]), (Ids{c, a}));
  EXPECT_EQ(idsOf(after(b).json()["unpinned"]), Ids{a});
  EXPECT_EQ(after(a).body, R"({"pinned":[],"unpinned":[]})");
  EXPECT_EQ(idsOf(after(std::numeric_limits<std::int64_t>::max()).json()["unpinned"]),
            (Ids{d, c, a}));
  EXPECT_EQ(idsOf(after(d).json()["pinned"]), Ids{});
  ASSERT_EQ(call("DELETE", path(c)).status, 204);
  EXPECT_EQ(idsOf(after(c).json()["unpinned"]), Ids{a}) << "a page goes on though its end is gone";
}

TEST_F(AnnouncementListApi, AfterThatIsNoIdIs400AndAnUnknownFestival404) {
  for (const auto* junk : {"", "abc", "0", "-1", "%2B1", "1.5", "01", "1%202", "1,2", "0x1",
                           "9223372036854775808", "%00", "%ED%95%9C"}) {
    SCOPED_TRACE(junk);
    expectProblem(get(kList + "?after=" + junk), 400, "INVALID_PARAMETER");
  }
  expectProblem(client.get(kList + "?after=1"), 400, "INVALID_PARAMETER");
  expectProblem(client.get(kList + "?after=1", {{"festival", "999999999"}}), 404,
                "FESTIVAL_NOT_FOUND");
}

TEST_F(AnnouncementListApi, AClientThatHasThePageGets304) {
  fill(150, 3000);
  for (const auto& page : {kList, nextOf(get())}) {
    const auto first = get(page);
    const auto etag = first.header("etag");
    ASSERT_THAT(etag, testing::MatchesRegex("\"[0-9A-Fa-f]{32}\""));
    EXPECT_EQ(first.header("cache-control"), "no-cache");
    EXPECT_EQ(first.header("vary"), "festival");
    for (const auto& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
      const auto again = get(page, known);
      EXPECT_EQ(again.status, 304) << known;
      EXPECT_EQ(again.body, "");
      EXPECT_EQ(again.header("etag"), etag);
      EXPECT_EQ(again.header("link"), first.header("link"));
    }
    EXPECT_EQ(get(page, "\"other\"").body, first.body);
  }
}

TEST_F(AnnouncementListApi, EveryChangeChangesTheTag) {
  auto etag = get().header("etag");
  const auto changed = [&] {
    const auto list = get(kList, etag);
    const auto before = std::exchange(etag, list.header("etag"));
    return list.status == 200 && !etag.empty() && etag != before;
  };
  const auto id = create("t");
  EXPECT_TRUE(changed());
  call("PATCH", path(id), R"({"title":"u","content":"c"})");
  EXPECT_TRUE(changed());
  call("PATCH", path(id) + "/pin", R"({"pinned":true})");
  EXPECT_TRUE(changed());
}

TEST_F(AnnouncementListApi, ALinkThatIsNoLongerNeededChangesTheTag) {
  fill(116, 2900);
  setOldestContent(1);
  setOldestContent(2 + kMebi - get().body.size());
  Response list;
  ASSERT_TRUE(eventually([&] {
    list = rawList(client, festival);
    return !list.header("link").empty();
  }));
  ASSERT_EQ(call("DELETE", path(stored("NOT is_pinned").back())).status, 204);
  const auto again = get(kList, list.header("etag"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.header("link"), "");
  EXPECT_EQ(again.body, list.body);
}

TEST_F(AnnouncementListApi, TheOriginIsAddedToVary) {
  const Service open(sharedPg().createDatabase(),
                     patient({{"HTTP_CORS_ORIGINS", "https://a.example"}}));
  const auto list = open.client().get(kList, {{"festival", "1"}, {"Origin", "https://a.example"}});
  EXPECT_EQ(list.header("vary"), "festival, Origin");
}

// Each of them got all 36 MB once, and none of them did when they were twenty.
TEST_F(AnnouncementListApi, TwentyReadersOfFourThousandLargeAnnouncementsAreServed) {
  fill(4000, 3000);
  const auto answers =
      rush(service->port(), 20, [&](HttpClient& reader, int) { return rawList(reader, festival); });
  for (const auto& answer : answers) {
    ASSERT_EQ(answer.status, 200);
    EXPECT_LE(answer.body.size(), kMebi);
    EXPECT_EQ(answer.body, answers[0].body);
  }
}

namespace {

// Readers that ask for the list all the time, so that there is one in the service's memory, or one
// being rendered, whenever a write is answered.
class KeptWarm {
 public:
  KeptWarm(int port, std::int64_t festival) {
    for (int i = 0; i < 6; ++i)
      readers_.emplace_back([this, port, festival] {
        HttpClient client(port);
        while (!isOver_)
          if (!isServed(rawList(client, festival))) ++failures_;
      });
  }
  ~KeptWarm() {
    isOver_ = true;
    for (auto& reader : readers_) reader.join();
    EXPECT_EQ(failures_, 0);
  }
  KeptWarm(const KeptWarm&) = delete;
  KeptWarm& operator=(const KeptWarm&) = delete;

 private:
  // A busy machine may ask to come back.
  static bool isServed(const Response& answer) {
    return answer.status == 200 || answer.status == 503;
  }

  std::atomic<bool> isOver_{false};
  std::atomic<int> failures_{0};
  std::vector<std::thread> readers_;
};

}  // namespace

TEST_F(AnnouncementListApi, OwnWritesShowInTheListRightAfterTheirAnswer) {
  fill(30, 3000);  // it takes a while to render them
  const auto list = [&] { return listIn([&] { return rawList(client, festival); }); };
  const KeptWarm warm(service->port(), festival);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const auto id = create("new");
    const auto withIt = idsOf(list()["unpinned"]);
    ASSERT_FALSE(withIt.empty());
    ASSERT_EQ(withIt[0], id);
    ASSERT_EQ(call("PATCH", path(id), R"({"title":"edited","content":"c"})").status, 200);
    ASSERT_EQ(list()["unpinned"][0]["title"].asString(), "edited");
    ASSERT_EQ(call("PATCH", path(id) + "/pin", R"({"pinned":true})").status, 200);
    ASSERT_EQ(idsOf(list()["pinned"]), Ids{id});
    ASSERT_EQ(call("PATCH", path(id) + "/pin", R"({"pinned":false})").status, 200);
    ASSERT_EQ(idsOf(list()["pinned"]), Ids{});
    ASSERT_EQ(call("DELETE", path(id)).status, 204);
    const auto without = idsOf(list()["unpinned"]);
    ASSERT_FALSE(without.empty());
    ASSERT_NE(without[0], id);
  }
}

TEST_F(AnnouncementListApi, OwnWritesShowOnLaterPagesToo) {
  const auto oldest = create("oldest");
  const auto page = kList + "?after=" + std::to_string(create("newest"));
  const auto list = [&] { return listIn([&] { return get(page); }); };
  for (int round = 0; round < 20; ++round) {
    const auto title = "edit " + std::to_string(round);
    ASSERT_EQ(idsOf(list()["unpinned"]), Ids{oldest});
    ASSERT_EQ(call("PATCH", path(oldest), R"({"title":")" + title + R"(","content":"c"})").status,
              200);
    ASSERT_EQ(list()["unpinned"][0]["title"].asString(), title);
  }
}

// The first answer came from another instance; the repetition is answered here.
TEST_F(AnnouncementListApi, ARepeatedWriteShowsInTheListOfTheInstanceThatRepeatsItsAnswer) {
  const Service other(service->database(), patient());
  auto there = other.client();
  create("first");
  const KeptWarm warm(service->port(), festival);
  for (int round = 0; round < 30; ++round) {
    auto headers = council;
    headers["Idempotency-Key"] = "repeated-" + std::to_string(round);
    const auto body = announcement("t");
    const auto first = there.send("POST", kList, body, headers);
    ASSERT_EQ(first.status, 201) << first.body;
    const auto again = client.send("POST", kList, body, headers);
    ASSERT_EQ(again.body, first.body);
    const auto ids = idsOf(listIn([&] { return get(); })["unpinned"]);
    ASSERT_FALSE(ids.empty());
    ASSERT_EQ(ids[0], first.json()["announcementId"].asInt64());
  }
}

TEST_F(AnnouncementListApi, AWriteOfAnotherInstanceShowsWithinAMoment) {
  const Service other(service->database(), patient());
  create("first");
  const KeptWarm warm(service->port(), festival);
  const auto written = other.client().send("POST", kList, announcement("t"), council);
  ASSERT_EQ(written.status, 201) << written.body;
  const auto id = written.json()["announcementId"].asInt64();
  const auto shows = [&] {
    const auto ids = idsOf(get().json()["unpinned"]);
    return !ids.empty() && ids[0] == id;
  };
  EXPECT_TRUE(eventually(shows, std::chrono::seconds(10)));
}

}  // namespace festa::test
