// Notifications from POST to the pages that listen.
#include "tests/http/api_test.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/loops.h"
#include "tests/support/stall_watch.h"

namespace festa::test {

namespace {

using std::chrono::milliseconds;

// One stream of events.
class Listener {
 public:
  // `window`: see RawSocket.
  Listener(int port, const std::string& query, const std::string& headers = "", int window = 0)
      : socket_(port, window) {
    socket_.send("GET /announcements/events" + query + " HTTP/1.1\r\nHost: a\r\n" + headers +
                 "\r\n");
    // The first thing that a listener is told, after which it misses nothing.
    opened_ = socket_.readUntil("\r\n\r\n", 1, std::chrono::seconds(10)) &&
              socket_.received().starts_with("HTTP/1.1 200") &&
              socket_.readUntil("retry: ", 1, std::chrono::seconds(10));
  }
  bool isOpen() const { return opened_; }
  bool hears(const std::string& text, int times = 1,
             milliseconds patience = std::chrono::seconds(10)) {
    return socket_.readUntil(text, times, patience);
  }
  bool ends() { return socket_.readAll(std::chrono::seconds(10)), socket_.isClosed(); }
  const std::string& all() const { return socket_.received(); }
  int count(const std::string& text) const { return occurrences(all(), text); }
  std::string lastId() const {
    const auto at = all().rfind("id: ");
    return at == std::string::npos ? "" : all().substr(at + 4, all().find('\n', at) - at - 4);
  }

 private:
  RawSocket socket_;
  bool opened_ = false;
};

class NotificationApi : public ApiTest {
 protected:
  std::string announce(const std::string& title = "알림") {
    return call("POST", "/announcements", R"({"title":")" + title + R"(","content":"내용"})")
        .json()["announcementId"]
        .asString();
  }
  static std::string pathOf(const std::string& id) {
    return "/announcements/" + id + "/notifications";
  }
  Response notify(const std::string& id) { return call("POST", pathOf(id)); }
  std::string query() const { return "?festival=" + std::to_string(festival); }
  static std::string data(const std::string& id) { return R"("announcementId":)" + id + ','; }
};

// Notifications of an announcement, each with a text of 9,000 bytes and in its own transaction.
void haveLargeNotifications(const Service& service, std::int64_t festival,
                            const std::string& announcement, int count) {
  PgSession session(service.database());
  for (int i = 0; i < count; ++i)
    session.query(
        "INSERT INTO announcement_notifications (festival_id, announcement_id, title, content)"
        " SELECT $1::bigint, $2::bigint, 'number ' || $3::text || '!', repeat('c', 9000)",
        {std::to_string(festival), announcement, std::to_string(i)});
}

constexpr int kSmallWindow = 8 * 1024;

}  // namespace

TEST_F(NotificationApi, IsHeardWithinASecond) {
  Listener listener(service->port(), query());
  ASSERT_TRUE(listener.isOpen());
  EXPECT_THAT(listener.all(), testing::HasSubstr("content-type: text/event-stream"));
  for (int round = 0; round < 3; ++round) {
    const auto id = announce("제목 \\\"😀\\\"");
    const StallWatch stalls;
    const auto before = std::chrono::steady_clock::now();
    const auto sent = notify(id);
    EXPECT_EQ(sent.status, 200);
    EXPECT_EQ(sent.body, "");
    ASSERT_TRUE(listener.hears(data(id)));
    EXPECT_LT(secondsSince(before), stalls.allowed(1.0));
  }
  EXPECT_TRUE(listener.hears("\"}\n\n"));
  EXPECT_THAT(listener.all(),
              testing::HasSubstr("event: notification\ndata: {\"notificationId\":"));
  EXPECT_THAT(listener.all(), testing::HasSubstr(R"("title":"제목 \"😀\"","content":"내용",)"));
}

TEST_F(NotificationApi, TheFestivalIsInTheHeaderOrInTheQuery) {
  Listener byHeader(service->port(), "", "festival: " + std::to_string(festival) + "\r\n");
  ASSERT_TRUE(byHeader.isOpen());
  const auto author = service->newFestival();
  Listener elsewhere(service->port(), "?festival=" + std::to_string(service->lastFestival()));
  ASSERT_TRUE(elsewhere.isOpen());
  const auto id = announce();
  ASSERT_EQ(notify(id).status, 200);
  EXPECT_TRUE(byHeader.hears(data(id)));
  // What is heard there comes after it.
  const auto other =
      client.send("POST", "/announcements", R"({"title":"t","content":"c"})", author);
  ASSERT_EQ(other.status, 201) << other.body;
  const auto mark = other.json()["announcementId"].asString();
  ASSERT_EQ(client.request("POST", pathOf(mark), author).status, 200);
  EXPECT_TRUE(elsewhere.hears(data(mark)));
  const auto last = announce();
  ASSERT_EQ(notify(last).status, 200);
  EXPECT_TRUE(byHeader.hears(data(last)));
  EXPECT_EQ(byHeader.count("data: "), 2) << byHeader.all();
  EXPECT_EQ(elsewhere.count("data: "), 1) << elsewhere.all();
}

TEST_F(NotificationApi, AreHeardInTheOrderInWhichTheyWereSent) {
  Listener listener(service->port(), query());
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.push_back(announce());
  for (const auto& id : ids) ASSERT_EQ(notify(id).status, 200);
  ASSERT_TRUE(listener.hears("data: ", 10));
  ASSERT_TRUE(listener.hears(data(ids.back())));
  std::size_t at = 0;
  for (const auto& id : ids) {
    const auto found = listener.all().find(data(id));
    EXPECT_GT(found, at) << id;
    at = found;
  }
}

TEST_F(NotificationApi, AReturningListenerGetsExactlyTheMissedEvents) {
  const auto first = announce(), second = announce(), third = announce();
  std::string last;
  {
    Listener listener(service->port(), query());
    ASSERT_EQ(notify(first).status, 200);
    ASSERT_TRUE(listener.hears(data(first)));
    last = listener.lastId();
    ASSERT_FALSE(last.empty());
  }
  ASSERT_EQ(notify(second).status, 200);
  // On another instance.
  const Service elsewhere(service->database(), patient());
  for (const int port : {elsewhere.port(), service->port()}) {
    Listener back(port, query(), "Last-Event-ID: " + last + "\r\n");
    EXPECT_TRUE(back.hears(data(second)));
    EXPECT_EQ(back.count("data: "), 1);
  }
  Listener back(elsewhere.port(), query(), "Last-Event-ID: " + last + "\r\n");
  ASSERT_TRUE(back.hears(data(second)));
  ASSERT_EQ(notify(third).status, 200);
  EXPECT_TRUE(back.hears(data(third))) << "and goes on listening";
  EXPECT_EQ(back.count("data: "), 2);
}

// More than a slow connection takes at once.
TEST_F(NotificationApi, AReturningListenerIsToldALargeBacklogInOrderAndOnce) {
  const auto first = announce();
  std::string last;
  {
    Listener listener(service->port(), query());
    ASSERT_EQ(notify(first).status, 200);
    ASSERT_TRUE(listener.hears(data(first)));
    last = listener.lastId();
  }
  constexpr int kMissed = 300;
  haveLargeNotifications(*service, festival, first, kMissed);
  Listener back(service->port(), query(), "Last-Event-ID: " + last + "\r\n", kSmallWindow);
  std::this_thread::sleep_for(milliseconds(600));  // the reader pauses for some looks
  const auto numbered = [](int i) { return "number " + std::to_string(i) + "!"; };
  ASSERT_TRUE(back.hears(numbered(kMissed - 1), 1, std::chrono::seconds(20)));
  std::size_t at = 0;
  for (int i = 0; i < kMissed; ++i) {
    EXPECT_EQ(back.count(numbered(i)), 1) << i;
    EXPECT_GT(back.all().find(numbered(i)), at);
    at = back.all().find(numbered(i));
  }
}

TEST_F(NotificationApi, ANewListenerGetsNoPastEvents) {
  ASSERT_EQ(notify(announce()).status, 200);
  {
    // Keeps the instance looking.
    Listener first(service->port(), query());
    const auto mark = announce();
    ASSERT_EQ(notify(mark).status, 200);
    ASSERT_TRUE(first.hears(data(mark)));
  }
  Listener listener(service->port(), query());
  const auto id = announce();
  ASSERT_EQ(notify(id).status, 200);
  ASSERT_TRUE(listener.hears(data(id)));
  EXPECT_EQ(listener.count("data: "), 1);
}

TEST_F(NotificationApi, IsSentOnceInThreeMinutes) {
  const auto id = announce();
  ASSERT_EQ(notify(id).status, 200);
  const auto again = notify(id);
  expectProblem(again, 429, "NOTIFIED_RECENTLY");
  EXPECT_GT(std::stoi(again.header("retry-after")), 170);
  EXPECT_LE(std::stoi(again.header("retry-after")), 180);
  EXPECT_EQ(inDatabase("SELECT count(*) FROM announcement_notifications WHERE announcement_id ="
                       " $1::bigint",
                       {id}),
            "1");
}

TEST_F(NotificationApi, OnlyTheCouncilOfTheFestivalSendsIt) {
  const auto id = announce();
  expectProblem(client.request("POST", pathOf(id)), 401, "UNAUTHENTICATED");
  expectProblem(client.request("POST", pathOf(id), asUser()), 403, "FORBIDDEN");
  expectProblem(client.request("POST", pathOf(id), service->newFestival()), 403,
                "ANNOUNCEMENT_NOT_IN_FESTIVAL");
  expectProblem(notify("9223372036854775807"), 404, "ANNOUNCEMENT_NOT_FOUND");
  expectProblem(notify("abc"), 400, "INVALID_PARAMETER");
  ASSERT_EQ(call("DELETE", "/announcements/" + id).status, 204);
  expectProblem(notify(id), 404, "ANNOUNCEMENT_NOT_FOUND");
}

TEST_F(NotificationApi, ARepeatedKeySendsOne) {
  const auto id = announce();
  auto headers = council;
  headers["Idempotency-Key"] = "notify-" + id;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.request("POST", pathOf(id), headers).status, 200);
  EXPECT_EQ(inDatabase("SELECT count(*) FROM announcement_notifications WHERE announcement_id ="
                       " $1::bigint",
                       {id}),
            "1");
}

TEST_F(NotificationApi, ListenersSayWhichFestivalAndAnIdOfOurs) {
  expectProblem(client.get("/announcements/events"), 400, "INVALID_PARAMETER");
  expectProblem(client.get("/announcements/events?festival=abc"), 400, "INVALID_PARAMETER");
  expectProblem(client.get("/announcements/events?festival=9223372036854775807"), 404,
                "FESTIVAL_NOT_FOUND");
  for (const std::string id : {"abc", "1", "1:2", "2:1:", "1:2:3", "'", "4294967296:4294967296:"})
    expectProblem(client.get("/announcements/events" + query(), {{"Last-Event-ID", id}}), 400,
                  "INVALID_PARAMETER");
  const auto longId = "3:9000:" + std::string(9000, '3');
  expectProblem(client.get("/announcements/events" + query(), {{"Last-Event-ID", longId}}), 400,
                "INVALID_PARAMETER");
}

TEST_F(NotificationApi, WithoutAStreamTheAnswerIsAComment) {
  const auto once = client.get("/announcements/events" + query(), {{"Connection", "close"}});
  EXPECT_EQ(once.status, 200);
  EXPECT_THAT(once.header("content-type"), testing::StartsWith("text/event-stream"));
  EXPECT_EQ(once.body, ": still here\n\n");
}

TEST(NotificationStreams, AreBoundedInNumberAndEndWithTheService) {
  Service service(sharedPg().createDatabase(), patient({{"NOTIFICATIONS_MAX_STREAMS", "2"}}));
  auto client = service.client();
  {
    Listener first(service.port(), "?festival=1"), second(service.port(), "?festival=2");
    ASSERT_TRUE(first.isOpen());
    ASSERT_TRUE(second.isOpen());
    const auto third = client.get("/announcements/events?festival=1");
    expectProblem(third, 503, "OVERLOADED");
    EXPECT_FALSE(third.header("retry-after").empty());
  }
  // Their places are free when they have gone.
  std::unique_ptr<Listener> later;
  ASSERT_TRUE(eventually([&] {
    later = std::make_unique<Listener>(service.port(), "?festival=1");
    return later->isOpen();
  }));
  service.stop();
  EXPECT_TRUE(later->ends());
}

// What it has not read stays in the outbox, not in memory.
TEST(NotificationStreams, AListenerThatDoesNotReadIsEndedAndFreesItsPlace) {
  Service service(sharedPg().createDatabase(), patient({{"NOTIFICATIONS_MAX_STREAMS", "1"}}));
  Listener deaf(service.port(), "?festival=1", "", kSmallWindow);
  ASSERT_TRUE(deaf.isOpen());
  auto client = service.client();
  expectProblem(client.get("/announcements/events?festival=1"), 503, "OVERLOADED");
  const auto made = client.send("POST", "/announcements", R"({"title":"t","content":"c"})",
                                service.as("council1"));
  ASSERT_EQ(made.status, 201);
  haveLargeNotifications(service, 1, made.json()["announcementId"].asString(), 100);
  // It may be behind for 10 s.
  EXPECT_TRUE(eventually([&] { return Listener(service.port(), "?festival=1").isOpen(); },
                         std::chrono::seconds(40)));
}

TEST(NotificationStreams, OfThreeInstancesAllHearWithinASecond) {
  const auto database = sharedPg().createDatabase();
  Service one(database, patient()), two(database, patient()), three(database, patient());
  Listener listeners[]{
      {one.port(), "?festival=1"}, {two.port(), "?festival=1"}, {three.port(), "?festival=1"}};
  for (auto& listener : listeners) ASSERT_TRUE(listener.isOpen());
  const auto council = one.as("council1");
  auto client = two.client();
  for (int round = 0; round < 3; ++round) {
    const auto id = client.send("POST", "/announcements", R"({"title":"t","content":"c"})", council)
                        .json()["announcementId"]
                        .asString();
    const StallWatch stalls;
    const auto before = std::chrono::steady_clock::now();
    ASSERT_EQ(client.request("POST", "/announcements/" + id + "/notifications", council).status,
              200);
    for (auto& listener : listeners) ASSERT_TRUE(listener.hears(R"("announcementId":)" + id + ','));
    EXPECT_LT(secondsSince(before), stalls.allowed(1.0));
  }
}

}  // namespace festa::test
