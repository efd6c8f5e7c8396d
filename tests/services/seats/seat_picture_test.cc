#include "services/seats/seat_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SectionPicture section(const std::string& location, const std::string& flags) {
  return {location, static_cast<std::int32_t>(flags.size()), bitmapOf(flags)};
}

}  // namespace

TEST(SeatPicture, TheLowestBitOfTheFirstByteIsSeatOne) {
  EXPECT_EQ(bitmapOf(""), "");
  EXPECT_EQ(bitmapOf("1"), "\x01");
  EXPECT_EQ(bitmapOf("01000001"), "\x82");
  EXPECT_EQ(bitmapOf("000000001"), std::string("\0\x01", 2));
  EXPECT_EQ(bitmapOf("1111111111"), "\xff\x03");
  EXPECT_EQ(bitmapOf(std::string(50'000, '0')), std::string(6'250, '\0'));
}

TEST(SeatPicture, ChangesAreWhatWasSoldAndWhatWasFreed) {
  const SeatPicture before{section("A", "0100000001"), section("B", "000")};
  const SeatPicture after{section("A", "1100000000"), section("B", "001")};
  const auto changes = changesBetween(before, after);
  ASSERT_TRUE(changes);
  EXPECT_THAT(changes->sold, ElementsAre(NumberedSeat{"A", 1}, NumberedSeat{"B", 3}));
  EXPECT_THAT(changes->free, ElementsAre(NumberedSeat{"A", 10}));
}

TEST(SeatPicture, EqualPicturesHaveNoChanges) {
  const SeatPicture picture{section("A", "0110"), section("B", "1")};
  const auto changes = changesBetween(picture, picture);
  ASSERT_TRUE(changes);
  EXPECT_TRUE(changes->empty());
  EXPECT_THAT(changes->sold, IsEmpty());
}

TEST(SeatPicture, AnotherHallHasNoChangesButIsAnotherPicture) {
  const SeatPicture before{section("A", "0110")};
  EXPECT_FALSE(changesBetween(before, {section("A", "01100")}));
  EXPECT_FALSE(changesBetween(before, {section("B", "0110")}));
  EXPECT_FALSE(changesBetween(before, {section("A", "0110"), section("B", "0")}));
  EXPECT_FALSE(changesBetween({}, before));
}

// The changes of any two pictures lead from the first to the second.
TEST(SeatPicture, ChangesLeadFromOnePictureToTheOther) {
  unsigned random = 7;
  const auto flags = [&random] {
    std::string text;
    for (int i = 0; i < 131; ++i) {
      random = random * 1'103'515'245U + 12'345U;
      text += ((random >> 16U) & 1U) != 0 ? '1' : '0';
    }
    return text;
  };
  for (int round = 0; round < 50; ++round) {
    auto now = flags();
    const auto wanted = flags();
    const auto changes = changesBetween({section("A", now)}, {section("A", wanted)});
    ASSERT_TRUE(changes);
    for (const auto& seat : changes->sold) now[static_cast<std::size_t>(seat.number) - 1] = '1';
    for (const auto& seat : changes->free) now[static_cast<std::size_t>(seat.number) - 1] = '0';
    EXPECT_EQ(now, wanted);
  }
}

}  // namespace festa::test
