#include "services/seats/sold_seats.h"

#include "tests/support/test_time.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

using std::chrono::milliseconds;

class SoldSeatsTest : public testing::Test {
 protected:
  SoldSeats make(std::size_t capacity = 1600) {
    return SoldSeats(capacity, timeBy([this] { return now_; }));
  }

  SoldSeats::Clock::time_point now_{std::chrono::seconds(1000)};
  const SeatRef seat_{1, "A", 1};
};

}  // namespace

TEST_F(SoldSeatsTest, KnowsASaleForASecondFromBeforeItWasProved) {
  auto sold = make();
  EXPECT_FALSE(sold.isSold(seat_));
  const auto before = now_;
  now_ += milliseconds(300);  // the query took this long
  sold.add(seat_, before);
  EXPECT_TRUE(sold.isSold(seat_));
  now_ = before + milliseconds(999);
  EXPECT_TRUE(sold.isSold(seat_));
  now_ = before + milliseconds(1000);
  EXPECT_FALSE(sold.isSold(seat_));
}

TEST_F(SoldSeatsTest, ALaterProofExtendsAnEarlierOneDoesNot) {
  auto sold = make();
  sold.add(seat_, now_);
  sold.add(seat_, now_ + milliseconds(500));
  sold.add(seat_, now_ + milliseconds(100));
  now_ += milliseconds(1400);
  EXPECT_TRUE(sold.isSold(seat_));
  now_ += milliseconds(100);
  EXPECT_FALSE(sold.isSold(seat_));
}

TEST_F(SoldSeatsTest, SeatsAreToldApart) {
  auto sold = make();
  sold.add({1, "A1", 1}, now_);
  EXPECT_FALSE(sold.isSold({1, "A", 11}));
  EXPECT_FALSE(sold.isSold({11, "A1", 1}));
  EXPECT_TRUE(sold.isSold({1, "A1", 1}));
}

TEST_F(SoldSeatsTest, AFreedSeatIsForgotten) {
  auto sold = make();
  sold.add(seat_, now_);
  sold.forget(seat_);
  EXPECT_FALSE(sold.isSold(seat_));
  sold.forget(seat_);
}

TEST_F(SoldSeatsTest, ItDoesNotGrowBeyondItsCapacity) {
  auto sold = make(160);
  for (int i = 1; i <= 10'000; ++i) sold.add({1, "A", i}, now_);
  EXPECT_LE(sold.size(), 160U);
  EXPECT_TRUE(sold.isSold({1, "A", 10'000})) << "the newest stays";
  now_ += std::chrono::seconds(2);
  for (int i = 1; i <= 160; ++i) sold.add({2, "B", i}, now_);
  EXPECT_LE(sold.size(), 160U);
}

}  // namespace festa::test
