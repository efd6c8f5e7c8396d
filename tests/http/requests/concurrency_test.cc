// SCENARIOS: a hundred councils pin at once, and a storm of pin changes.
#include "tests/support/http/rush.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/loops.h"
#include "tests/support/servers/service.h"
#include "tests/support/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <random>
#include <set>

namespace festa::test {

namespace {

constexpr int kParallel = 100;
constexpr int kSwaps = 30;
const std::string kPinned = R"({"title":"pin","content":"me","isPinned":true})";
const std::string kUnpinned = R"({"title":"pin","content":"me later","isPinned":false})";

std::string swapBody(std::int64_t insteadOf) {
  return R"({"pinned":true,"insteadOf":)" + std::to_string(insteadOf) + "}";
}

// A 503 that had stored its pin would leave less than three answers of 201.
std::vector<Response> pinAtOnce(const Service& service, const Headers& headers) {
  return rush(service.port(), kParallel, [&](HttpClient& client, int) {
    return untilServed([&] { return client.send("POST", "/announcements", kPinned, headers); });
  });
}

std::int64_t pinsOf(PgSession& session, std::int64_t festival) {
  return std::stoll(
      *session.query("SELECT count(*) FROM announcements WHERE festival_id = $1::bigint AND "
                     "is_pinned AND deleted_at IS NULL",
                     {std::to_string(festival)})[0][0]);
}

class PinRush : public testing::TestWithParam<Protection> {
 protected:
  static void SetUpTestSuite() {
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), patient(labSettings()));
  }
  static void TearDownTestSuite() { lab_.reset(); }

  struct Outcome {
    std::int64_t pins;
    std::map<int, int> statuses;
  };

  static Outcome rushOnFreshFestival(Service& service, const Headers& protection) {
    auto headers = service.newFestival();
    headers.insert(protection.begin(), protection.end());
    const auto answers = pinAtOnce(service, headers);
    PgSession session(service.database());
    return {pinsOf(session, service.lastFestival()), countByStatus(answers)};
  }

  static std::unique_ptr<Service> lab_;
};

std::unique_ptr<Service> PinRush::lab_;

class PinRushHolds : public PinRush {};
class PinRushBreaks : public PinRush {};

}  // namespace

TEST_P(PinRushHolds, ExactlyThreeOfAHundred) {
  for (int round = 0; round < sized(3, 50); ++round) {
    const auto outcome = rushOnFreshFestival(*lab_, GetParam().headers);
    EXPECT_EQ(outcome.pins, 3);
    EXPECT_EQ(outcome.statuses, (std::map<int, int>{{201, 3}, {409, kParallel - 3}}));
  }
}

INSTANTIATE_TEST_SUITE_P(Alone, PinRushHolds, testing::ValuesIn(eachAlone()), nameOfProtection);
INSTANTIATE_TEST_SUITE_P(WithBackstop, PinRushHolds,
                         testing::Values(Protection{"AsConfigured", {}}, withBackstop("none"),
                                         withBackstop("memory")),
                         nameOfProtection);

// Each of many wants to be pinned instead of one of the three that are.
TEST_P(PinRushHolds, EveryPlaceIsGivenAwayOnceByASwapAndNeverLost) {
  auto headers = lab_->newFestival();
  headers.insert(GetParam().headers.begin(), GetParam().headers.end());
  std::vector<std::int64_t> places, waiting;
  auto client = lab_->client();
  for (int i = 0; i < 3 + kSwaps; ++i) {
    const auto made = client.send("POST", "/announcements", i < 3 ? kPinned : kUnpinned, headers);
    ASSERT_EQ(made.status, 201) << made.body;
    (i < 3 ? places : waiting).push_back(made.json()["announcementId"].asInt64());
  }
  std::atomic<bool> isOver{false};
  std::set<std::int64_t> seen;
  std::jthread look([&, festival = lab_->lastFestival()] {
    PgSession session(lab_->database());
    do seen.insert(pinsOf(session, festival));
    while (!isOver);
  });
  const auto answers = rush(lab_->port(), kSwaps, [&](HttpClient& each, int i) {
    const auto at = static_cast<std::size_t>(i);
    const auto path = "/announcements/" + std::to_string(waiting[at]) + "/pin";
    return untilServed([&] { return each.send("PATCH", path, swapBody(places[at % 3]), headers); });
  });
  isOver = true;
  look.join();
  EXPECT_EQ(seen, std::set<std::int64_t>{3}) << "numbers of pins that were seen meanwhile";
  EXPECT_EQ(countByStatus(answers), (std::map<int, int>{{200, 3}, {409, kSwaps - 3}}));
  const auto pinned = client.get("/announcements", headers).json()["pinned"];
  for (const auto& one : pinned)
    EXPECT_THAT(waiting, testing::Contains(one["announcementId"].asInt64()));
}

// The controls: if these did not break, the tests above would be blind.
TEST_P(PinRushBreaks, MoreThanThreeAreSeen) {
  std::int64_t most = 0;
  for (int round = 0; round < 20 && most <= 3; ++round)
    most = std::max(most, rushOnFreshFestival(*lab_, GetParam().headers).pins);
  EXPECT_GT(most, 3);
}

INSTANTIATE_TEST_SUITE_P(Alone, PinRushBreaks,
                         testing::Values(Protection{"None", {{"X-Concurrency", "none"}}},
                                         Protection{"PgRepeatableRead",
                                                    {{"X-Concurrency", "pg-repeatable-read"}}},
                                         Protection{"MemoryReleasedBeforeCommit",
                                                    {{"X-Concurrency", "memory"},
                                                     {"X-Lab-Fault", "release-before-commit"}}}),
                         nameOfProtection);

TEST(PinRushInProduction, ExactlyThreeOfAHundredAndTheLabsHeadersAreIgnored) {
  Service service(sharedPg().createDatabase(), patient());
  for (int round = 0; round < 3; ++round) {
    auto headers = service.newFestival();
    headers["X-Concurrency"] = "none";
    headers["X-Backstop"] = "off";
    headers["X-Lab-Fault"] = "release-before-commit";
    EXPECT_EQ(countByStatus(pinAtOnce(service, headers)),
              (std::map<int, int>{{201, 3}, {409, kParallel - 3}}));
  }
  PgSession session(service.database());
  EXPECT_TRUE(session.query("SELECT 1 FROM announcements WHERE unguarded").empty());
  EXPECT_TRUE(session
                  .query("SELECT 1 FROM announcements WHERE is_pinned GROUP BY festival_id HAVING "
                         "count(*) > 3")
                  .empty());
}

namespace {

// One random step of a storm; its answer.
Response stormStep(HttpClient& client, const Headers& headers, std::mt19937& random,
                   std::atomic<std::int64_t>& lastId) {
  const auto id =
      std::to_string(std::max<std::int64_t>(1, lastId - static_cast<std::int64_t>(random() % 12)));
  Response answer;
  switch (random() % 7) {
    case 0: answer = client.send("POST", "/announcements", kPinned, headers); break;
    case 1: answer = client.send("POST", "/announcements", kUnpinned, headers); break;
    case 2:
    case 3:
      answer = client.send("PATCH", "/announcements/" + id + "/pin", R"({"pinned":true})", headers);
      break;
    case 4:
      answer =
          client.send("PATCH", "/announcements/" + id + "/pin", R"({"pinned":false})", headers);
      break;
    case 5:
      answer = client.send("PATCH", "/announcements/" + id + "/pin",
                           swapBody(std::max<std::int64_t>(1, std::stoll(id) - 1)), headers);
      break;
    default: answer = client.request("DELETE", "/announcements/" + id, headers); break;
  }
  if (answer.status == 201) lastId = answer.json()["announcementId"].asInt64();
  return answer;
}

// A success, or a clean refusal.
bool isExpected(const Response& answer) {
  return answer.status / 100 == 2 || answer.status == 409 || answer.status == 404 ||
         answer.status == 403 || answer.status == 422;  // the first one instead of itself
}

// A disk that stands still for a moment makes statements time out, which says: come back.
bool asksToComeBack(const Response& answer) {
  return answer.status == 503 && !answer.header("retry-after").empty();
}

std::int64_t mostPins(PgSession& session) {
  return std::stoll(*session.query(
      "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM announcements"
      " WHERE is_pinned AND deleted_at IS NULL GROUP BY festival_id) AS counts")[0][0]);
}

// Threads that step, and samples of the database while they do.
void storm(Service& service, const std::vector<Headers>& festivals, int threads, int steps) {
  std::atomic<std::int64_t> lastId{1};
  std::atomic<int> odd{0};
  std::atomic<int> later{0};
  std::atomic<int> running{threads};
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      HttpClient client(service.port());
      std::mt19937 random(static_cast<unsigned>(i));
      for (int step = 0; step < steps; ++step) {
        const auto answer =
            stormStep(client, festivals[random() % festivals.size()], random, lastId);
        if (asksToComeBack(answer))
          ++later;
        else if (!isExpected(answer))
          ++odd;
      }
      --running;
    });
  PgSession session(service.database());
  int samples = 0;
  while (running > 0) {
    ASSERT_LE(mostPins(session), 3);
    ++samples;
  }
  for (auto& thread : all) thread.join();
  EXPECT_LE(mostPins(session), 3);
  EXPECT_EQ(odd, 0) << "answers that are neither a success nor a clean refusal\n"
                    << service.errors();
  EXPECT_LE(later, threads * steps / 20) << "answers that ask to come back";
  EXPECT_GT(samples, 10);
}

}  // namespace

TEST(PinStorm, NeverMoreThanThreeOnOneFestival) {
  Service service(sharedPg().createDatabase(), patient());
  storm(service, {service.newFestival()}, 16, sized(60, 3000));
}

TEST(PinStorm, NeverMoreThanThreeOnAThousandFestivals) {
  Service service(sharedPg().createDatabase(), patient());
  storm(service, service.newFestivals(1000), 16, sized(100, 3000));
}

TEST(PinStorm, FestivalsDoNotBlockEachOther) {
  Service service(sharedPg().createDatabase(), patient({{"LAB", "true"}}));
  auto slow = service.newFestival();
  const auto quick = service.newFestival();
  slow["X-Lab-Fault"] = "pause-before-commit=6000";  // the stop ends it
  std::atomic<bool> slowIsDone{false};
  std::jthread holder([&] {
    HttpClient client(service.port());
    EXPECT_EQ(client.send("POST", "/announcements", kPinned, slow).status, 201);
    slowIsDone = true;
  });
  auto client = service.client();
  ASSERT_TRUE(eventually([&] { return service.locked("holding") == 1; }));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client.send("POST", "/announcements", kPinned, quick).status, 201);
  EXPECT_FALSE(slowIsDone) << "the other festival's writes waited for this one's lock";
  service.tellToStop();
  holder.join();
}

TEST(PinStorm, WaitersBeyondTheLimitAreTurnedAwayAtOnce) {
  Service service(sharedPg().createDatabase(),
                  patient({{"LAB", "true"},
                           {"LOCK_MAX_WAITERS_PER_KEY", "2"},
                           {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "20000"}}));
  auto headers = service.newFestival();
  headers["X-Lab-Fault"] = "pause-before-commit=1500";
  // One that comes late, when a waiter has become the holder, finds a place. Not in every round.
  std::map<int, int> counts;
  for (int round = 0; round < 3 && counts[503] != 7; ++round) {
    const auto answers = rush(service.port(), 10, [&](HttpClient& client, int) {
      return client.send("POST", "/announcements", kUnpinned, headers);
    });
    for (const auto& answer : answers)
      if (answer.status == 503) {
        EXPECT_EQ(answer.code(), "OVERLOADED");
        EXPECT_FALSE(answer.header("retry-after").empty());
      }
    counts = countByStatus(answers);
    EXPECT_GE(counts[201], 3);
    EXPECT_EQ(counts[201] + counts[503], 10);
  }
  EXPECT_EQ(counts, (std::map<int, int>{{201, 3}, {503, 7}}));
}

TEST(PinStorm, AWaiterThatWaitsInVainGetsLockTimeout) {
  Service service(sharedPg().createDatabase(),
                  patient({{"LAB", "true"}, {"LOCK_LOCKABLES_ANNOUNCEMENT_PINS_WAIT_MS", "100"}}));
  auto headers = service.newFestival();
  headers["X-Lab-Fault"] = "pause-before-commit=6000";  // the stop ends it
  std::atomic<int> refused{0};
  std::jthread stopper([&] {
    EXPECT_TRUE(eventually([&] { return refused == 2; }));
    service.tellToStop();
  });
  const auto answers = rush(service.port(), 3, [&](HttpClient& client, int) {
    auto answer = client.send("POST", "/announcements", kUnpinned, headers);
    if (answer.status == 503) ++refused;
    return answer;
  });
  EXPECT_EQ(countByStatus(answers), (std::map<int, int>{{201, 1}, {503, 2}}));
  for (const auto& answer : answers)
    if (answer.status == 503) {
      EXPECT_EQ(answer.code(), "LOCK_TIMEOUT");
    }
}

}  // namespace festa::test
