// One row per festival and date, also when many requests for it arrive at once.
#include "tests/support/http/rush.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/servers/service.h"
#include "tests/support/size.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

constexpr int kParallel = 24;
const std::string kDate = R"({"date":"2026-05-20"})";

class EventDateRush : public testing::TestWithParam<Protection> {
 protected:
  static void SetUpTestSuite() {
    auto settings = patient(labSettings());
    settings["DATABASE_CONNECTIONS"] = "32";
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), settings);
  }
  static void TearDownTestSuite() { lab_.reset(); }

  struct Outcome {
    std::int64_t rows;  // with the date
    std::map<int, int> statuses;
  };

  // Half of the requests make the date, the others move a date of their own to it.
  static Outcome rushOnFreshFestival(const Headers& protection) {
    const auto headers = joined(lab_->newFestival(), protection);
    auto client = lab_->client();
    std::vector<std::string> own;
    for (int i = 0; i < kParallel / 2; ++i) {
      const auto date = R"({"date":"2027-01-)" + std::to_string(10 + i) + R"("})";
      const auto made =
          untilServed([&] { return client.send("POST", "/event-dates", date, headers); });
      own.push_back(made.json()["eventDateId"].asString());
    }
    const auto answers = rush(lab_->port(), kParallel, [&](HttpClient& one, int i) {
      const auto path = "/event-dates/" + own[static_cast<std::size_t>(i / 2)];
      return untilServed([&] {
        return i % 2 == 0 ? one.send("POST", "/event-dates", kDate, headers)
                          : one.send("PATCH", path, kDate, headers);
      });
    });
    const auto rows = PgSession(lab_->database())
                          .query(
                              "SELECT count(*) FROM event_dates WHERE festival_id = $1::bigint"
                              " AND date = '2026-05-20'",
                              {std::to_string(lab_->lastFestival())});
    return {std::stoll(*rows[0][0]), countByStatus(answers)};
  }

  static std::unique_ptr<Service> lab_;
};

std::unique_ptr<Service> EventDateRush::lab_;

class EventDateRushHolds : public EventDateRush {};
class EventDateRushBreaks : public EventDateRush {};

}  // namespace

TEST_P(EventDateRushHolds, ADateIsStoredOnce) {
  for (int round = 0; round < sized(2, 20); ++round) {
    const auto outcome = rushOnFreshFestival(GetParam().headers);
    EXPECT_EQ(outcome.rows, 1);
    EXPECT_EQ(outcome.statuses.at(409), kParallel - 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Alone, EventDateRushHolds, testing::ValuesIn(eachAlone()),
                         nameOfProtection);
INSTANTIATE_TEST_SUITE_P(
    WithBackstop, EventDateRushHolds,
    testing::Values(Protection{"AsConfigured", {}},
                    Protection{"None", {{"X-Concurrency", "none"}, {"X-Backstop", "on"}}},
                    Protection{"Memory", {{"X-Concurrency", "memory"}, {"X-Backstop", "on"}}}),
    nameOfProtection);

// The controls: if these did not break, the tests above would be blind.
TEST_P(EventDateRushBreaks, ADateIsStoredTwice) {
  std::int64_t most = 0;
  for (int round = 0; round < 20 && most <= 1; ++round)
    most = std::max(most, rushOnFreshFestival(GetParam().headers).rows);
  EXPECT_GT(most, 1);
}

INSTANTIATE_TEST_SUITE_P(Alone, EventDateRushBreaks,
                         testing::Values(Protection{"None", {{"X-Concurrency", "none"}}},
                                         Protection{"PgRepeatableRead",
                                                    {{"X-Concurrency", "pg-repeatable-read"}}},
                                         Protection{"MemoryReleasedBeforeCommit",
                                                    {{"X-Concurrency", "memory"},
                                                     {"X-Lab-Fault", "release-before-commit"}}}),
                         nameOfProtection);

}  // namespace festa::test
