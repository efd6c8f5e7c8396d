// Sessions of PostgreSQL are ended at random under load: no success without its row, no row that a
// client was told is not there.
#include "tests/support/history/service_history.h"
#include "tests/support/http/crowd.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"
#include "tests/support/servers/hasty_replies.h"
#include "tests/support/servers/service.h"
#include "tests/support/servers/sessions.h"
#include "tests/support/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

namespace festa::test {

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kWriters = 24;
// Drogon replaces a lost connection after a second: some must be left.
constexpr std::chrono::milliseconds kPause{25};
constexpr std::size_t kFestivals = 8;
const int kPeople = sized(30'000, 200'000);

const Service::Settings kSettings{{"DATABASE_CONNECTIONS", "48"},
                                  {"DATABASE_BATCH_CONNECTIONS", "16"}};

// A session that was ended: its client, and what had its rows and was about to commit: "sale",
// "claim", "transaction" (a sale with a key where the client is that of batches), or nothing.
struct Ended {
  std::string client;
  std::string committing;
};

// A server of its own, on which every write spends some time between its rows and its commit: this
// is where the end of a session tells a false answer from a true one.
class Kills : public testing::Test {
 protected:
  void SetUp() override {
    PgSession session(database_);
    session.run(
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_sleep(0.002); RETURN NULL; END $$");
    for (const std::string table : {"reservations", "coupon_claims", "announcements"})
      session.run("CREATE CONSTRAINT TRIGGER linger AFTER INSERT OR UPDATE ON " + table +
                  " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()");
    sales_.haveUsers(kPeople);
  }

  // Ends a session, chosen by lot among those that are working and, now and then, some that are
  // not; every second time one that is about to commit. nullopt: there was none.
  static std::optional<Ended> endOne(PgSession& admin) {
    const auto ended = admin.query(
        "SELECT client, doing, pg_terminate_backend(pid) FROM"
        " (SELECT pid, application_name AS client, CASE"
        "  WHEN wait_event IS DISTINCT FROM 'PgSleep' THEN ''"
        "  WHEN query LIKE '%FROM seats s%' THEN 'sale'"
        "  WHEN query LIKE '%FROM coupons%' THEN 'claim'"
        "  WHEN query ILIKE 'commit' THEN 'transaction' ELSE '' END AS doing"
        " FROM pg_stat_activity WHERE " +
        kOfTheService +
        " AND (state = 'active' OR random() < 0.01)"
        " ORDER BY random() < 0.5 AND wait_event IS NOT DISTINCT FROM 'PgSleep' DESC, random()"
        " LIMIT 1) v");
    if (ended.empty()) return std::nullopt;
    return Ended{*ended[0][0], *ended[0][1]};
  }
  // Until `isEnough`, which is asked after each.
  void endSessionsUntil(const std::function<bool()>& isEnough) {
    PgSession admin(database_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(8);
    for (; !isEnough() && std::chrono::steady_clock::now() < deadline;
         std::this_thread::sleep_for(kPause)) {
      const auto ended = endOne(admin);
      if (!ended) continue;
      ++ended_[ended->client];
      ++committing_[ended->client + ' ' + ended->committing];
      ++all_;
    }
    EXPECT_TRUE(isEnough()) << "after " << all_ << " sessions";
  }

  PgServer pg_;
  const Config::Database database_ = pg_.createDatabase();
  const Sales sales_{database_};
  int all_ = 0;                            // sessions that were ended
  std::map<std::string, int> ended_;       // by client
  std::map<std::string, int> committing_;  // by client and write
};

// Writers that never ask for the same thing twice, so that each row tells which request stored it.
class WritersUnderKills : public Kills {
 protected:
  void SetUp() override {
    Kills::SetUp();
    service_ = std::make_unique<Service>(serverOfTheService(), kSettings);
    performance_ = sales_.performance(kPeople);
    coupon_ = sales_.coupon(kPeople, false);
    for (std::size_t i = 0; i < kFestivals; ++i) councils_.push_back(service_->newFestival());
  }

  virtual Config::Database serverOfTheService() { return database_; }

  void writeWhile(const std::function<void()>& act) {
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i)
      writers.emplace_back([this] {
        HttpClient client(service_->port());
        for (int n = next_++; !stop_ && n <= kPeople; n = next_++) write(client, n);
      });
    act();
    stop_ = true;
    for (auto& writer : writers) writer.join();
  }

  void write(HttpClient& client, int n) {
    switch (n % 6) {
      case 0:
      case 1: return sell(client, n, {});
      case 2: return sell(client, n, {{"Idempotency-Key", "sale-" + std::to_string(n)}});
      case 3:
      case 4: return grant(client, n);
      default: return announce(client, n);
    }
  }

  void sell(HttpClient& client, int n, Headers headers) {
    const auto who = "sale-" + std::to_string(n);
    headers.insert({"X-Request-Id", who});
    headers.merge(Sales::as(n));
    record(who, "sale ",
           client.send("POST", reservationPath(performance_), reservationBody(n, n), headers),
           [](const Json::Value& body) { return body["content"]["id"].asString(); });
  }
  void grant(HttpClient& client, int n) {
    const auto who = "claim-" + std::to_string(n);
    auto headers = Sales::as(n);
    headers["X-Request-Id"] = who;
    record(who, "claim ",
           client.request("POST", "/coupons/" + std::to_string(coupon_) + "/claims", headers),
           [](const Json::Value& body) { return body["claimId"].asString(); });
  }
  void announce(HttpClient& client, int n) {
    const auto who = "announcement-" + std::to_string(n);
    auto headers = councils_[static_cast<std::size_t>(n) % kFestivals];
    headers["X-Request-Id"] = who;
    const auto body = R"({"title":")" + who + R"(","content":"c","isPinned":false})";
    record(who, "announcement ", client.send("POST", "/announcements", body, headers),
           [](const Json::Value& answer) { return answer["announcementId"].asString(); });
  }

  void record(const std::string& who, const std::string& kind, const Response& answer,
              const std::function<std::string(const Json::Value&)>& row) {
    if (answer.status == 0) ++unanswered_;
    if (answer.status == 500 && answer.code() != "COMMIT_UNCONFIRMED") ++failures_;
    const bool succeeded = answer.status >= 200 && answer.status < 300;
    if (succeeded) ++successes_;
    history_.answered(who, answer.status, succeeded ? kind + row(answer.json()) : "");
  }

  // Of the writes under this lock, as the service counts them.
  double lostAcknowledgements(const std::string& lockable) const {
    std::istringstream lines(service_->metrics());
    double sum = 0;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("festa_commit_unknown_total") &&
          line.find("lockable=\"" + lockable + '"') != std::string::npos)
        sum += std::stod(line.substr(line.rfind(' ')));
    return sum;
  }

  void addRows(const std::string& kind, const std::string& query) {
    for (const auto& row : PgSession(database_).query(query)) {
      const auto name = kind + ' ' + *row[0];
      history_.committed("row of " + name, kind + '-' + *row[1], 0, name, {}, {});
    }
  }

  // Adds what the database has.
  std::vector<std::string> brokenPromises() {
    addRows("sale", "SELECT r.id, s.number FROM reservations r JOIN seats s ON s.id = r.seat_id");
    addRows("claim", "SELECT id, user_id FROM coupon_claims");
    addRows("announcement", "SELECT id, substr(title, 14) FROM announcements");
    addHolds(history_, service_->log());
    return history_.check({.unknown = {500}});
  }

  void expectTruth() {
    EXPECT_THAT(brokenPromises(), IsEmpty());
    EXPECT_EQ(unanswered_, 0);
    EXPECT_EQ(failures_, 0) << service_->errors();
    const auto seats = sales_.seatsOf(performance_);
    EXPECT_EQ(seats.sold, seats.marked);
    EXPECT_EQ(seats.twice(), 0);
    EXPECT_EQ(sales_.number("SELECT granted - (SELECT count(*) FROM coupon_claims) FROM coupons"
                            " WHERE id = $1::bigint",
                            coupon_),
              0);
    service_->stop();
  }

  History history_;
  std::unique_ptr<Service> service_;
  std::int64_t performance_ = 0;
  std::int64_t coupon_ = 0;
  std::vector<Headers> councils_;
  std::atomic<int> next_{1};
  std::atomic<bool> stop_{false};
  std::atomic<int> unanswered_{0};
  std::atomic<int> failures_{0};
  std::atomic<int> successes_{0};
};

// The control: a service that takes the result of a statement for its commit.
class HastyWritersUnderKills : public WritersUnderKills {
 protected:
  Config::Database serverOfTheService() override {
    auto behindProxy = database_;
    behindProxy.port = proxy_.port();
    return behindProxy;
  }
  void TearDown() override { service_.reset(); }  // before its proxy

  TcpProxy proxy_{pg_.port(), &HastyReplies::make};
};

}  // namespace

TEST_F(WritersUnderKills, EverySuccessHasItsRowWhenSessionsEndAtRandom) {
  writeWhile([this] {
    endSessionsUntil([this] {
      return all_ >= sized(200, 2000) && committing_["festabook-batch sale"] >= 5 &&
             committing_["festabook-batch claim"] >= 5 &&
             committing_["festabook-batch transaction"] >= 5;
    });
  });
  EXPECT_GT(successes_, 200);
  EXPECT_GT(ended_["festabook"], 0);
  for (const auto* const lockable : {"seats", "coupons", "announcement-pins"})
    EXPECT_GT(lostAcknowledgements(lockable), 0) << "no session was ended where it matters";
  expectTruth();
}

TEST_F(HastyWritersUnderKills, AResultThatIsBelievedBeforeItsCommitIsFoundOut) {
  writeWhile([this] {
    endSessionsUntil([this] {
      return committing_["festabook-batch sale"] >= 3 && committing_["festabook-batch claim"] >= 3;
    });
  });
  const auto broken = brokenPromises();
  EXPECT_THAT(broken, Contains(HasSubstr("was answered 200, but there is no row 'sale ")));
  EXPECT_THAT(broken, Contains(HasSubstr("was answered 201, but there is no row 'claim ")));
}

TEST_F(WritersUnderKills, EverySuccessHasItsRowWhenTheServerRestarts) {
  writeWhile([this] {
    for (int round = 0; round < sized(4, 50); ++round) {
      const int before = successes_;
      EXPECT_TRUE(eventually([&] { return successes_ >= before + 100; })) << "no recovery";
      pg_.restart();
    }
    const int before = successes_;
    EXPECT_TRUE(eventually([&] { return successes_ >= before + 100; })) << "no recovery";
  });
  expectTruth();
}

TEST_F(Kills, EveryQueuedClaimIsFinishedOnceWhenSessionsEndAtRandom) {
  auto settings = kSettings;
  settings["LOCK_LOCKABLES_COUPONS_STRATEGY"] = "queue-local";
  settings["QUEUE_SWEEP_SECONDS"] = "1";
  Service service(database_, settings);
  const auto coupon = sales_.coupon(kPeople, true);
  const auto path = "/coupons/" + std::to_string(coupon) + "/claims";
  std::atomic<bool> stop{false};
  std::thread killer([&] { endSessionsUntil([&] { return stop.load(); }); });
  const auto answers =
      crowdOf({service.port()}, 8, sized(500, 5000), [&](HttpClient& client, int index) {
        return client.request("POST", path, Sales::as(index + 1));
      });
  const auto count = [&](const std::string& what) {
    return sales_.number("SELECT " + what + " FROM coupon_claims WHERE coupon_id = $1::bigint",
                         coupon);
  };
  // Counted together: a claim whose client does not know of it may still come.
  const std::string unfinished = "count(*) FILTER (WHERE state <> 'DONE')";
  EXPECT_TRUE(eventually([&] { return count(unfinished) == 0; }, std::chrono::seconds(120)))
      << count(unfinished) << " of " << count("count(*)");
  stop = true;
  killer.join();
  const auto claims = count("count(*)");
  EXPECT_GT(all_, 20) << "too few sessions were ended to see anything";
  const auto codes = countByCode(answers);
  const auto of = [&](const char* code) { return codes.contains(code) ? codes.at(code) : 0; };
  EXPECT_GE(claims, of("202"));
  EXPECT_LE(claims, of("202") + of("500 COMMIT_UNCONFIRMED"));
  EXPECT_EQ(count("count(DISTINCT sequence)"), claims);
  EXPECT_EQ(count("max(sequence)"), claims);
  EXPECT_EQ(sales_.number("SELECT remaining FROM coupons WHERE id = $1::bigint", coupon),
            kPeople - claims);
  service.stop();
}

}  // namespace festa::test
