// kill -9 in a rush of reservations, and a start after it.
#include "tests/support/http/crowd.h"
#include "tests/support/http/sales.h"
#include "tests/support/loops.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <set>

namespace festa::test {

namespace {

constexpr int kSeats = 400;
constexpr int kRivals = 2;  // for every seat

// User n wants seat n, user n + kSeats too; each under a key of its own.
Response book(HttpClient& client, std::int64_t performance, int index) {
  const int user = index + 1;
  auto headers = Sales::as(user);
  headers["Idempotency-Key"] = "crash-" + std::to_string(user);
  return client.send("POST", reservationPath(performance),
                     reservationBody(user, index % kSeats + 1), headers);
}

bool isRefusal(const Response& answer) {
  return answer.code() == "ALREADY_RESERVED_SEAT";
}

}  // namespace

TEST(Crash, KilledInARushEvery200HasItsRowAndRetriesGetTheirFirstAnswer) {
  const auto database = sharedPg().createDatabase();
  const Service::Settings settings{{"IDEMPOTENCY_CLAIM_MS", "1000"}};
  auto doomed = std::make_unique<Service>(database, settings);
  const Sales sales(database);
  sales.haveUsers(kSeats * kRivals);
  const auto performance = sales.performance(kSeats);

  std::atomic<int> sold{0};
  std::atomic<bool> killed{false};
  const auto first =
      crowdOf({doomed->port()}, 16, kSeats * kRivals, [&](HttpClient& client, int index) {
        const auto answer = killed ? Response{} : book(client, performance, index);
        if (answer.status == 200 && ++sold == 120) {
          killed = true;
          doomed->kill();
        }
        return answer;
      });
  ASSERT_GE(sold, 120);
  ASSERT_LT(sold, kSeats) << "it was killed too late to see anything";

  Service restarted(database, settings);
  std::set<std::string> reservations;
  int unanswered = 0;
  auto client = restarted.client();
  for (int index = 0; index < kSeats * kRivals; ++index) {
    const auto& before = first[static_cast<std::size_t>(index)];
    if (before.status == 0) ++unanswered;
    Response after;
    // A claim that the dead process left runs out.
    ASSERT_TRUE(eventually([&] {
      after = book(client, performance, index);
      return after.status == 200 || isRefusal(after);
    })) << after.body;
    if (before.status == 200) {
      EXPECT_EQ(after.body, before.body) << "user " << index + 1;
    }
    if (isRefusal(before)) {
      EXPECT_TRUE(isRefusal(after));
    }
    if (after.status == 200) reservations.insert(after.json()["content"]["id"].asString());
  }
  EXPECT_GT(unanswered, 0);
  const auto seats = sales.seatsOf(performance);
  EXPECT_EQ(seats.sold, kSeats);
  EXPECT_EQ(seats.twice(), 0);
  EXPECT_EQ(reservations.size(), static_cast<std::size_t>(kSeats))
      << "a 200 without a row of its own";
  PgSession session(database);
  for (const auto& row : session.query("SELECT id FROM reservations WHERE cancelled_at IS NULL"
                                       " AND performance_id = $1::bigint",
                                       {std::to_string(performance)}))
    EXPECT_TRUE(reservations.contains(*row[0])) << "a row that no client was told of";
}

}  // namespace festa::test
