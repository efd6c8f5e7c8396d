// The opening second and the hot seat, by every strategy, on one instance and on three.
#include "tests/support/http/crowd.h"
#include "tests/support/http/rush.h"
#include "tests/support/http/sales.h"
#include "tests/support/lock/strategy_cases.h"
#include "tests/support/loops.h"
#include "tests/support/size.h"

#include <atomic>

namespace festa::test {

namespace {

constexpr int kConnections = 48;
const int kUsers = kSanitized ? 200 : 1000;

// A hall on sale at one or more instances.
class Hall {
 public:
  Hall(const Config::Database& database, std::vector<int> ports, int seats)
      : sales_(database), ports_(std::move(ports)), seats_(seats) {
    sales_.haveUsers(kUsers);
    performance_ = sales_.performance(seats);
  }

  Response book(HttpClient& client, int user, int seat, const Headers& protection) const {
    return client.send("POST", reservationPath(performance_), reservationBody(user, seat),
                       joined(Sales::as(user), protection));
  }

  Response bookPatiently(HttpClient& client, int user, int seat, const Headers& protection) const {
    return untilServed([&] { return book(client, user, seat, protection); });
  }

  // Everybody wants a seat, and takes another one when theirs is gone, until all are. How many got
  // one; `odd` counts answers that are neither a sale nor a clean refusal.
  int openingSecond(const Headers& protection, std::atomic<int>& odd) const {
    std::vector<std::atomic<bool>> sold(static_cast<std::size_t>(seats_));
    std::atomic<int> lucky{0};
    crowd(ports_, kConnections, kUsers, [&](HttpClient& client, int index) {
      for (int tried = 0; tried < seats_;) {
        const auto seat = (index + tried) % seats_;
        if (sold[static_cast<std::size_t>(seat)]) {
          ++tried;
          continue;
        }
        const auto answer = bookPatiently(client, index + 1, seat + 1, protection);
        if (answer.status == 200) {
          ++lucky;
          return;
        }
        const auto code = answer.code();
        if (code == "ALREADY_RESERVED_SEAT") sold[static_cast<std::size_t>(seat)] = true;
        if (answer.status == 409) continue;
        ++odd;
        return;
      }
    });
    return lucky;
  }

  std::vector<Response> hotSeat(const Headers& protection, int requests) const {
    return crowdOf(ports_, kConnections, requests, [&](HttpClient& client, int index) {
      return bookPatiently(client, index % kUsers + 1, 1, protection);
    });
  }

  Sales::Seats seats() const { return sales_.seatsOf(performance_); }

 private:
  const Sales sales_;
  const std::vector<int> ports_;
  const int seats_;
  std::int64_t performance_ = 0;
};

class SeatRush : public testing::TestWithParam<Protection> {
 protected:
  static void SetUpTestSuite() {
    lab_ = std::make_unique<Service>(sharedPg().createDatabase(), patient(labSettings()));
  }
  static void TearDownTestSuite() { lab_.reset(); }

  static Hall hall(int seats) { return Hall(lab_->database(), {lab_->port()}, seats); }

  static inline std::unique_ptr<Service> lab_;
};

class SeatRushBreaks : public SeatRush {};

// One winner; all others get SEAT_BUSY or ALREADY_RESERVED_SEAT.
void expectOneWinner(const std::vector<Response>& answers) {
  auto counts = countByCode(answers);
  EXPECT_EQ(counts["200"], 1);
  counts.erase("200");
  counts.erase("409 SEAT_BUSY");
  counts.erase("409 ALREADY_RESERVED_SEAT");
  EXPECT_TRUE(counts.empty()) << counts.begin()->first << " × " << counts.begin()->second;
}

}  // namespace

TEST_P(SeatRush, EverySeatIsSoldOnceInTheOpeningSecond) {
  const int seats = sized(100, 1000);
  const auto hall = SeatRush::hall(seats);
  std::atomic<int> odd{0};
  const int lucky = hall.openingSecond(GetParam().headers, odd);
  const auto sold = hall.seats();
  EXPECT_EQ(lucky, seats);
  EXPECT_EQ(sold.sold, seats);
  EXPECT_EQ(sold.different, seats);
  EXPECT_EQ(sold.marked, seats);
  EXPECT_EQ(odd, 0);
}

TEST_P(SeatRush, OneHotSeatHasOneOwner) {
  const auto hall = SeatRush::hall(1);
  expectOneWinner(hall.hotSeat(GetParam().headers, kSanitized ? 200 : sized(1000, 5000)));
  EXPECT_EQ(hall.seats().sold, 1);
}

INSTANTIATE_TEST_SUITE_P(Alone, SeatRush, testing::ValuesIn(eachAlone()), nameOfProtection);
INSTANTIATE_TEST_SUITE_P(WithBackstop, SeatRush,
                         testing::Values(Protection{"AsConfigured", {}}, withBackstop("none"),
                                         withBackstop(recommendedStrategy(true).name),
                                         withBackstop("pg-row"), withBackstop("pg-version")),
                         nameOfProtection);

// The controls: if these did not oversell, the tests above would be blind.
TEST_P(SeatRushBreaks, ASeatIsSoldTwice) {
  std::int64_t most = 0;
  for (int round = 0; round < 20 && most <= 1; ++round) {
    const auto hall = SeatRush::hall(1);
    hall.hotSeat(GetParam().headers, 200);
    most = std::max(most, hall.seats().sold);
  }
  EXPECT_GT(most, 1);
}

INSTANTIATE_TEST_SUITE_P(Alone, SeatRushBreaks,
                         testing::Values(Protection{"None", {{"X-Concurrency", "none"}}},
                                         Protection{"MemoryReleasedBeforeCommit",
                                                    {{"X-Concurrency", "memory"},
                                                     {"X-Lab-Fault", "release-before-commit"}}}),
                         nameOfProtection);

// The winner of the lock fails: no client was told that the seat is sold, and it can be bought.
TEST_F(SeatRush, AWinnerThatFailsLeavesAFreeSeat) {
  const auto hall = SeatRush::hall(1);
  const auto answers = hall.hotSeat({{"X-Lab-Fault", "throw-before-commit"}}, 200);
  for (const auto& [code, count] : countByCode(answers))
    EXPECT_TRUE(code == "500 INTERNAL" || code == "409 SEAT_BUSY") << code << " × " << count;
  EXPECT_EQ(hall.seats().sold, 0);
  auto client = lab_->client();
  EXPECT_EQ(hall.bookPatiently(client, 1, 1, {}).status, 200);
}

namespace {

// Three processes of the real binary on one database and one Redis.
class ThreeCounters : public testing::Test {
 protected:
  void start(Service::Settings settings) {
    settings["DATABASE_CONNECTIONS"] = "16";
    const auto database = sharedPg().createDatabase();
    for (int i = 0; i < 3; ++i) instances_.push_back(std::make_unique<Service>(database, settings));
  }

  Hall hall(int seats) const {
    return Hall(instances_[0]->database(),
                {instances_[0]->port(), instances_[1]->port(), instances_[2]->port()}, seats);
  }

  std::vector<std::unique_ptr<Service>> instances_;
};

}  // namespace

TEST_F(ThreeCounters, SellEverySeatOnceByEverySharedStrategyAlone) {
  start(patient(labSettings()));
  for (const auto& protection : eachAlone(true)) {
    const auto hall = this->hall(50);
    std::atomic<int> odd{0};
    EXPECT_EQ(hall.openingSecond(protection.headers, odd), 50) << protection.name;
    EXPECT_EQ(hall.seats().sold, 50) << protection.name;
    EXPECT_EQ(hall.seats().twice(), 0) << protection.name;
    EXPECT_EQ(odd, 0) << protection.name;
  }
  // The control: a lock inside each process is not enough.
  std::int64_t most = 0;
  for (int round = 0; round < 20 && most <= 1; ++round) {
    const auto hall = this->hall(1);
    hall.hotSeat({{"X-Concurrency", "memory"}}, 200);
    most = std::max(most, hall.seats().sold);
  }
  EXPECT_GT(most, 1) << "the test is blind";
}

// As it would run in production: the view of sold seats is in each process, and none sells twice.
TEST_F(ThreeCounters, NeverSellTwiceAndACancelledSeatCanBeBoughtEverywhere) {
  auto settings = labSettings();
  settings.erase("LAB");
  settings["LOCK_STRATEGY"] = "redis-fair";
  settings["LOCK_INSTANCES"] = "3";
  start(patient(settings));
  const auto hall = this->hall(1);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (const auto& instance : instances_)
    clients.push_back(std::make_unique<HttpClient>(instance->port()));
  for (int round = 0; round < 6; ++round) {
    const auto owner = static_cast<std::size_t>(round) % 3;
    auto& buyer = *clients[owner];
    // Within the second for which the others may still take the seat for sold.
    Response sale;
    ASSERT_TRUE(eventually(
        [&] {
          sale = hall.book(buyer, 1, 1, {});
          return sale.status == 200;
        },
        std::chrono::seconds(5)))
        << sale.body;
    for (auto& client : clients)
      EXPECT_EQ(hall.bookPatiently(*client, 2, 1, {}).code(), "ALREADY_RESERVED_SEAT");
    EXPECT_EQ(hall.seats().sold, 1);
    const auto path = "/customer/reservations/" + sale.json()["content"]["id"].asString();
    auto& another = *clients[(owner + 1) % 3];
    const auto freed = untilServed([&] { return another.request("DELETE", path, Sales::as(1)); });
    EXPECT_EQ(freed.status, 204) << freed.body;
  }
}

}  // namespace festa::test
