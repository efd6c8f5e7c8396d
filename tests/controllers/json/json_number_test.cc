#include "controllers/json/json_number.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace festa::test {

namespace {

using Limits = std::numeric_limits<std::int64_t>;

}  // namespace

TEST(WholeNumber, IsReadHoweverItIsWritten) {
  for (const auto* text : {"25", "25.0", "25.000", "2.5e1", "2.5E+1", "250e-1", "0.25e2", "0.025e3",
                           "25e0", "25e-0", "2500000e-5"})
    EXPECT_EQ(wholeNumber(text), 25) << text;
  EXPECT_EQ(wholeNumber("-25.0"), -25);
  EXPECT_EQ(wholeNumber("1e18"), 1'000'000'000'000'000'000);
  for (const auto* text : {"0", "-0", "0.0", "-0.0", "0e5", "0e-5", "0.000e99999999999999999999"})
    EXPECT_EQ(wholeNumber(text), 0) << text;
}

TEST(WholeNumber, KeepsAllDigits) {
  EXPECT_EQ(wholeNumber("9007199254740993.0"), 9007199254740993);
  EXPECT_EQ(wholeNumber("9223372036854775807.0"), Limits::max());
  EXPECT_EQ(wholeNumber("-9223372036854775808.0"), Limits::min());
  EXPECT_EQ(wholeNumber("9223372036854775808.0"), std::nullopt);
  EXPECT_EQ(wholeNumber("-9223372036854775809.0"), std::nullopt);
}

TEST(WholeNumber, OtherNumbersAreNotWhole) {
  for (const auto* text : {"25.5", "0.1", "25.0000000000000000000000001", "1e-1", "25e-1", "1e19",
                           "1e400", "-1e400", "1e99999999999999999999", "1e-99999999999999999999",
                           "9223372036854775807.5", "0.9999999999999999999999"})
    EXPECT_EQ(wholeNumber(text), std::nullopt) << text;
}

TEST(WholeNumber, LongLiteralsAreRead) {
  const std::string zeros(100'000, '0');
  EXPECT_EQ(wholeNumber("7." + zeros), 7);
  EXPECT_EQ(wholeNumber("0." + zeros + "7e100001"), 7);
  EXPECT_EQ(wholeNumber("7" + zeros + "e-100000"), 7);
  EXPECT_EQ(wholeNumber("7" + zeros), std::nullopt);
  EXPECT_EQ(wholeNumber("7." + zeros + "1"), std::nullopt);
}

}  // namespace festa::test
