#include "controllers/local_time.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(LocalTime, BothFormsBecomeOne) {
  EXPECT_EQ(canonicalLocalTime("2026-05-20 18:00:01"), "2026-05-20T18:00:01.000000");
  EXPECT_EQ(canonicalLocalTime("2026-05-20T18:00:01"), "2026-05-20T18:00:01.000000");
  EXPECT_EQ(canonicalLocalTime("2026-05-20T18:00"), "2026-05-20T18:00:00.000000");
}

TEST(LocalTime, UpToSixFractionDigitsAreKept) {
  EXPECT_EQ(canonicalLocalTime("2026-05-20T18:00:00.1"), "2026-05-20T18:00:00.100000");
  EXPECT_EQ(canonicalLocalTime("2026-05-20T18:00:00.123456"), "2026-05-20T18:00:00.123456");
  EXPECT_EQ(canonicalLocalTime("2026-05-20T18:00:00.1234567"), std::nullopt);
}

TEST(LocalTime, EarlierTimesAreSmallerTexts) {
  EXPECT_LT(*canonicalLocalTime("2026-05-20 18:00:00"),
            *canonicalLocalTime("2026-05-20T18:00:00.5"));
  EXPECT_LT(*canonicalLocalTime("2026-05-20T18:00:00.09"),
            *canonicalLocalTime("2026-05-20T18:00:00.1"));
  EXPECT_EQ(*canonicalLocalTime("2026-05-20 18:00:00"),
            *canonicalLocalTime("2026-05-20T18:00:00.0"));
}

TEST(LocalTime, FirstAndLastMomentsOfDaysAndYearsExist) {
  for (const auto* text : {"0001-01-01 00:00:00", "9999-12-31 23:59:59", "2028-02-29 00:00:00"})
    EXPECT_TRUE(canonicalLocalTime(text)) << text;
}

TEST(LocalTime, DatesAndTimesThatDoNotExistAreRefused) {
  for (const auto* text :
       {"", "2026-05-20", "2026-05-20T", "2026-05-20 ", "18:00:00", "2026-02-30 00:00:00",
        "2026-02-29 00:00:00", "2026-13-01 00:00:00", "2026-00-01 00:00:00", "2026-01-00 00:00:00",
        "0000-01-01 00:00:00", "2026-05-20 24:00:00", "2026-05-20 23:60:00", "2026-05-20 23:59:60"})
    EXPECT_EQ(canonicalLocalTime(text), std::nullopt) << text;
}

TEST(LocalTime, OtherNotationsAreRefused) {
  for (const auto* text : {"2026-05-20T18:00:00Z",
                           "2026-05-20T18:00:00+09:00",
                           "2026-05-20t18:00:00",
                           "2026-05-20  18:00:00",
                           " 2026-05-20 18:00:00",
                           "2026-05-20 18:00:00 ",
                           "2026-5-20 18:00:00",
                           "2026-05-20 8:00:00",
                           "20260520T180000",
                           "2026-05-20 18:00",
                           "2026-05-20 18:00:00.5",
                           "2026-05-20T18:00:00.",
                           "2026-05-20T18:00:00.5.5",
                           "2026-05-20T18:00.5",
                           "2026-05-20T18:00:00,5",
                           "+026-05-20T18:00:00",
                           "2026/05/20 18:00:00",
                           "2026-05-20T-1:00:00",
                           "2026-05-20T18:00:00.-5",
                           "infinity",
                           "now"})
    EXPECT_EQ(canonicalLocalTime(text), std::nullopt) << text;
}

}  // namespace festa::test
