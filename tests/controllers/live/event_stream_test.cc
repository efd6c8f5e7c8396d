#include "controllers/live/event_stream.h"

#include "services/error.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace festa::test {

namespace {

class StreamPlacesTest : public testing::Test {
 protected:
  static inline const std::string kAddress = "192.0.2.1";

  // Why not; nullopt: there was one.
  static std::optional<ErrorCode> refusal(StreamPlaces& places, std::int64_t user) {
    try {
      places.take(kAddress, user);
      return std::nullopt;
    } catch (const ServiceError& error) {
      return error.code();
    }
  }
  static std::shared_ptr<StreamPlaces> make(std::size_t inAll, std::size_t perUser) {
    return std::make_shared<StreamPlaces>(
        std::make_shared<StreamBounds>(StreamBounds::Limits{.streamsPerAddress = 50}), inAll,
        perUser);
  }
};

}  // namespace

TEST_F(StreamPlacesTest, OneUserHasSoManyAndOthersStillHaveTheirs) {
  const auto places = make(100, 3);
  std::vector<std::shared_ptr<StreamPlaces::Place>> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(places->take(kAddress, 1));
  EXPECT_EQ(refusal(*places, 1), ErrorCode::kRateLimited);
  EXPECT_EQ(refusal(*places, 2), std::nullopt);
}

TEST_F(StreamPlacesTest, AllUsersTogetherHaveSoMany) {
  const auto places = make(4, 3);
  std::vector<std::shared_ptr<StreamPlaces::Place>> taken;
  for (const int user : {1, 1, 1, 2}) taken.push_back(places->take(kAddress, user));
  EXPECT_EQ(refusal(*places, 2), ErrorCode::kOverloaded);
  EXPECT_EQ(refusal(*places, 3), ErrorCode::kOverloaded);
  EXPECT_EQ(refusal(*places, 1), ErrorCode::kRateLimited) << "waiting for others would not help";
}

TEST_F(StreamPlacesTest, APlaceThatIsGivenBackCanBeTakenAgain) {
  const auto places = make(2, 1);
  auto first = places->take(kAddress, 1);
  auto second = places->take(kAddress, 2);
  first.reset();
  EXPECT_EQ(refusal(*places, 2), ErrorCode::kRateLimited);
  first = places->take(kAddress, 1);
  EXPECT_EQ(refusal(*places, 3), ErrorCode::kOverloaded);
  first.reset();
  second.reset();
  EXPECT_EQ(refusal(*places, 3), std::nullopt);
}

TEST_F(StreamPlacesTest, ARefusalTakesNothing) {
  const auto places = make(2, 1);
  const auto first = places->take(kAddress, 1);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(refusal(*places, 1), ErrorCode::kRateLimited);
  EXPECT_EQ(refusal(*places, 2), std::nullopt);
}

TEST_F(StreamPlacesTest, AReaderWithoutANameIsBoundByAllPlacesOnly) {
  const auto places = make(3, 0);
  std::vector<std::shared_ptr<StreamPlaces::Place>> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(places->take(kAddress));
  EXPECT_THROW(places->take(kAddress), ServiceError);
  taken.pop_back();
  EXPECT_NO_THROW(places->take(kAddress));
}

TEST_F(StreamPlacesTest, StreamsOfAllKindsCountForTheirAddress) {
  const auto bounds = std::make_shared<StreamBounds>(StreamBounds::Limits{.streamsPerAddress = 3});
  const auto seats = std::make_shared<StreamPlaces>(bounds, 100, 0);
  const auto claims = std::make_shared<StreamPlaces>(bounds, 100, 5);
  const auto first = seats->take(kAddress), second = claims->take(kAddress, 1);
  auto third = seats->take(kAddress);
  EXPECT_EQ(refusal(*claims, 2), ErrorCode::kRateLimited);
  EXPECT_NO_THROW(claims->take("192.0.2.2", 2));
  third.reset();
  EXPECT_EQ(refusal(*claims, 2), std::nullopt);
}

TEST_F(StreamPlacesTest, ZeroIsNone) {
  EXPECT_EQ(refusal(*make(0, 5), 1), ErrorCode::kOverloaded);
  EXPECT_EQ(refusal(*make(5, 0), 1), ErrorCode::kRateLimited);
}

}  // namespace festa::test
