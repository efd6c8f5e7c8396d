// What readers of event streams may cost, whatever they leave unread.
#include "tests/http/seats/performance_test.h"
#include "tests/support/http/raw_socket.h"
#include "tests/support/http/sales.h"
#include "tests/support/http/seat_watchers.h"
#include "tests/support/loops.h"
#include "tests/support/servers/tcp_proxy.h"
#include "tests/support/size.h"
#include "tests/support/stall_watch.h"

#include <atomic>
#include <set>
#include <thread>

namespace festa::test {

namespace {

using namespace std::chrono_literals;

constexpr int kSmallWindow = 8 * 1024;

std::string streamRequest(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

// A stream that has begun; its socket is read no further.
RawSocket opened(const Service& service, const std::string& path, const std::string& headers = "") {
  RawSocket socket(service.port(), kSmallWindow);
  socket.send(streamRequest(path, headers));
  EXPECT_TRUE(socket.readUntil("HTTP/1.1 200", 1, 10s)) << socket.received();
  return socket;
}

// Notifications of festival 1, each with a text of 9,000 bytes and in its own transaction.
void haveLargeNotifications(const Service& service, int count) {
  PgSession session(service.database());
  session.run(
      "INSERT INTO announcements (festival_id, title, content, is_pinned)"
      " VALUES (1, 'large', 'c', false)");
  session.run("DO $$ BEGIN FOR i IN 1.." + std::to_string(count) +
              " LOOP INSERT INTO announcement_notifications"
              " (festival_id, announcement_id, title, content)"
              " SELECT 1, max(id), 'number ' || i || '!', repeat('c', 9000) FROM announcements;"
              " COMMIT; END LOOP; END $$");
}

// The largest size of a process while this lives.
class PeakMemory {
 public:
  explicit PeakMemory(Service& service)
      : before_(service.process().residentMegabytes()),
        watch_([this, &service](const std::stop_token& wish) {
          while (!wish.stop_requested()) {
            peak_ = std::max(peak_.load(), service.process().residentMegabytes());
            std::this_thread::sleep_for(20ms);
          }
        }) {}
  long grownMegabytes() const { return peak_ - before_; }

 private:
  const long before_;
  std::atomic<long> peak_{0};
  std::jthread watch_;
};

// Listeners of festival 1 that come back, each with another id, and read what they are told.
class Returning {
 public:
  Returning(int port, int count) {
    for (int i = 0; i < count; ++i) {
      const auto seen = std::to_string(3 + i);
      sockets_.emplace_back(port);
      sockets_.back().send(streamRequest("/announcements/events?festival=1",
                                         "Last-Event-ID: " + seen + ':' + seen + ":\r\n"));
      EXPECT_TRUE(sockets_.back().readUntil("retry: ", 1, 10s)) << sockets_.back().received();
    }
    reader_ = std::jthread([this](const std::stop_token& wish) {
      while (!wish.stop_requested()) {
        for (auto& socket : sockets_) told_ += socket.skip() > 0 && isFirst(socket) ? 1 : 0;
        std::this_thread::sleep_for(5ms);  // others need the processor
      }
    });
  }
  bool allWereTold() const { return told_ == static_cast<int>(sockets_.size()); }

 private:
  bool isFirst(const RawSocket& socket) { return known_.insert(&socket).second; }

  std::vector<RawSocket> sockets_;
  std::set<const RawSocket*> known_;  // of the reader: those that were told something
  std::atomic<int> told_{0};
  std::jthread reader_;  // uses the others
};

// Each reply of PostgreSQL comes after a pause.
class SlowReplies : public ReplyFilter {
 public:
  static std::unique_ptr<ReplyFilter> make() { return std::make_unique<SlowReplies>(); }
  std::string pass(std::string_view bytes) override {
    std::this_thread::sleep_for(pause.load());
    return std::string(bytes);
  }

  static inline std::atomic<std::chrono::milliseconds> pause{0ms};
};

bool hasMetric(const Service& service, const std::string& line) {
  return service.metrics().find('\n' + line + '\n') != std::string::npos;
}

}  // namespace

// A hall's page hears notifications on the stream of its seats.
TEST(StreamBounds, NotificationsThatAHallsWatchersDoNotReadAreBounded) {
  Service service(sharedPg().createDatabase(), patient());
  haveLargeNotifications(service, 3000);
  const PeakMemory memory(service);
  std::vector<RawSocket> deaf;
  for (int i = 0; i < 8; ++i)
    deaf.push_back(
        opened(service, "/performances/1/seats/events?festival=1", "Last-Event-ID: 3:3:\r\n"));
  EXPECT_TRUE(eventually([&] { return hasMetric(service, "festa_seat_watchers 8"); }));
  // They may be behind for 10 s.
  EXPECT_TRUE(eventually([&] { return hasMetric(service, "festa_seat_watchers 0"); }, 30s));
  EXPECT_LT(memory.grownMegabytes(), kSanitized ? 500 : 40);
  EXPECT_TRUE(hasMetric(service, "festa_stream_unsent_bytes 0"));
}

// Seats, notifications and a claim that stays undecided.
TEST(StreamBounds, OneAddressHasSoManyStreamsOfAllKinds) {
  const Service service(sharedPg().createDatabase(),
                        patient({{"HTTP_MAX_STREAMS_PER_ADDRESS", "4"},
                                 {"LAB", "true"},
                                 {"LOCK_LOCKABLES_COUPONS_STRATEGY", "queue-local"},
                                 {"QUEUE_WORK_MS", "600000"}}));
  auto client = service.client();
  const Sales sales(service.database());
  sales.haveUsers(1);
  const auto claimed = client.request(
      "POST", "/coupons/" + std::to_string(sales.coupon(10, false)) + "/claims", Sales::as(1));
  ASSERT_EQ(claimed.status, 202) << claimed.body;
  const auto claim = claimed.header("location") + "/events";
  const auto token = "Authorization: " + Sales::as(1).at("Authorization") + "\r\n";
  std::vector<RawSocket> streams;
  streams.push_back(opened(service, "/performances/1/seats/events"));
  streams.push_back(opened(service, "/performances/1/seats/events?festival=1"));
  streams.push_back(opened(service, claim, token));
  streams.push_back(opened(service, "/announcements/events?festival=1"));
  for (const std::string& path : {std::string("/performances/1/seats/events"),
                                  std::string("/announcements/events?festival=1"), claim}) {
    RawSocket refused(service.port());
    refused.send(streamRequest(path, path == claim ? token : ""));
    EXPECT_TRUE(refused.readUntil("HTTP/1.1 429", 1, 10s)) << refused.received();
    EXPECT_TRUE(refused.readUntil("RATE_LIMITED", 1, 10s)) << refused.received();
  }
  streams.pop_back();
  EXPECT_TRUE(eventually([&] {
    return client.get("/announcements/events?festival=1", {{"Connection", "close"}}).status == 200;
  })) << "a stream that has ended makes room";
}

TEST(StreamBounds, BehindATrustedProxyTheClientsCountAndNotTheProxy) {
  const Service service(
      sharedPg().createDatabase(),
      patient({{"HTTP_MAX_STREAMS_PER_ADDRESS", "2"}, {"HTTP_TRUSTED_PROXIES", "127.0.0.1"}}));
  const std::string path = "/announcements/events?festival=1";
  std::vector<RawSocket> streams;
  for (const std::string client : {"192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"})
    streams.push_back(opened(service, path, "X-Forwarded-For: " + client + "\r\n"));
  expectProblem(service.client().get(path, {{"X-Forwarded-For", "192.0.2.1"}}), 429,
                "RATE_LIMITED");
  for (int i = 0; i < 3; ++i) streams.push_back(opened(service, path));
}

// Each comes back with another id, so that none is told by the read for another; and all are there
// before the first of them is told anything.
TEST(StreamBounds, ListenersThatComeBackDoNotKeepOthersWaiting) {
  Service service(sharedPg().createDatabase(), patient());
  haveLargeNotifications(service, 1000);
  const auto council = service.newFestival();
  const auto festival = std::to_string(service.lastFestival());
  RawSocket listener(service.port());
  listener.send(streamRequest("/announcements/events?festival=" + festival));
  ASSERT_TRUE(listener.readUntil("\nid: ", 1, 10s)) << listener.received();
  PgSession session(service.database());
  session.run("BEGIN");
  session.run("LOCK TABLE announcement_notifications IN ACCESS EXCLUSIVE MODE");
  const Returning back(service.port(), 200);
  session.run("COMMIT");
  auto client = service.client();
  for (int round = 0; round < 5; ++round) {
    const auto made =
        client.send("POST", "/announcements", R"({"title":"t","content":"c"})", council);
    ASSERT_EQ(made.status, 201) << made.body;
    const auto id = made.json()["announcementId"].asString();
    const StallWatch stalls;
    const auto before = std::chrono::steady_clock::now();
    ASSERT_EQ(client.request("POST", "/announcements/" + id + "/notifications", council).status,
              200);
    EXPECT_TRUE(listener.readUntil(R"("announcementId":)" + id + ',', 1, 30s));
    EXPECT_LT(secondsSince(before), stalls.allowed(1.0)) << "round " << round;
  }
  EXPECT_TRUE(eventually([&] { return back.allWereTold(); }, 180s)) << "one has had no turn";
}

// One client watches all of the others, with more streams in each than this one has watchers.
// Reading all of them would take longer than a second.
TEST(StreamBounds, WatchersOfOtherHallsDoNotSlowDownAHall) {
  TcpProxy slowed(sharedPg().port(), &SlowReplies::make);
  const auto database = sharedPg().createDatabase();
  auto behind = database;
  behind.port = slowed.port();
  Service service(behind, patient({{"HTTP_TRUSTED_PROXIES", "127.0.0.1"}}));
  const Sales sales(database);
  constexpr int kHalls = 300;
  std::vector<std::int64_t> others;
  for (int i = 0; i < kHalls; ++i) others.push_back(sales.performance(2000));
  const auto hall = sales.performance(2000);
  const auto path = [](std::int64_t id) {
    return "/performances/" + std::to_string(id) + "/seats/events";
  };
  std::vector<RawSocket> streams;
  for (int i = 0; i < 2; ++i)
    for (const auto id : others)
      streams.push_back(opened(service, path(id), "X-Forwarded-For: 192.0.2.1\r\n"));
  SeatWatchers watchers(service.port(), hall, 1);
  ASSERT_TRUE(eventually([&] { return watchers.allHaveBegun(); }));
  SlowReplies::pause = 5ms;
  for (int seat = 1; seat <= 3; ++seat) {
    const StallWatch stalls;
    const auto before = std::chrono::steady_clock::now();
    const auto sale = service.client().send("POST", reservationPath(hall), reservationBody(1, seat),
                                            Sales::as(1));
    ASSERT_EQ(sale.status, 200) << sale.body;
    std::set<Seat> sold;
    for (int i = 1; i <= seat; ++i) sold.insert({"A", i});
    EXPECT_TRUE(eventually([&] { return watchers.allSee(sold); }));
    EXPECT_LT(secondsSince(before), stalls.allowed(1.0)) << "seat " << seat;
  }
  SlowReplies::pause = 0ms;
  // The others are told, too: each when it is its turn.
  for (auto& stream : streams) EXPECT_TRUE(stream.readUntil("event: snapshot", 1, 30s));
}

}  // namespace festa::test
