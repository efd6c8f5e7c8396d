#include "controllers/json/local_time.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(LocalTime, BothFormsBecomeOne) {
  EXPECT_EQ(canonicalTime("2026-05-20 18:00:01"), "2026-05-20T18:00:01.000000");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:01"), "2026-05-20T18:00:01.000000");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00"), "2026-05-20T18:00:00.000000");
}

TEST(LocalTime, UpToSixFractionDigitsAreKept) {
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:00.1"), "2026-05-20T18:00:00.100000");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:00.123456"), "2026-05-20T18:00:00.123456");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:00.1234567"), std::nullopt);
}

TEST(LocalTime, EarlierTimesAreSmallerTexts) {
  EXPECT_LT(*canonicalTime("2026-05-20 18:00:00"), *canonicalTime("2026-05-20T18:00:00.5"));
  EXPECT_LT(*canonicalTime("2026-05-20T18:00:00.09"), *canonicalTime("2026-05-20T18:00:00.1"));
  EXPECT_EQ(*canonicalTime("2026-05-20 18:00:00"), *canonicalTime("2026-05-20T18:00:00.0"));
}

TEST(LocalTime, FirstAndLastMomentsOfDaysAndYearsExist) {
  for (const auto* text : {"0001-01-01 00:00:00", "9999-12-31 23:59:59", "2028-02-29 00:00:00"})
    EXPECT_TRUE(canonicalTime(text)) << text;
}

TEST(LocalTime, DatesAndTimesThatDoNotExistAreRefused) {
  for (const auto* text :
       {"", "2026-05-20", "2026-05-20T", "2026-05-20 ", "18:00:00", "2026-02-30 00:00:00",
        "2026-02-29 00:00:00", "2026-13-01 00:00:00", "2026-00-01 00:00:00", "2026-01-00 00:00:00",
        "0000-01-01 00:00:00", "2026-05-20 24:00:00", "2026-05-20 23:60:00", "2026-05-20 23:59:60"})
    EXPECT_EQ(canonicalTime(text), std::nullopt) << text;
}

TEST(LocalTime, ATimeWithAnOffsetBecomesUtc) {
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:00Z"), "2026-05-20T18:00:00.000000Z");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:00+09:00"), "2026-05-20T09:00:00.000000Z");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:07.25-03:30"), "2026-05-20T21:30:07.250000Z");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00+00:00"), "2026-05-20T18:00:00.000000Z");
  EXPECT_EQ(canonicalTime("2026-05-20T18:00:00-00:00"), "2026-05-20T18:00:00.000000Z");
}

TEST(LocalTime, AnOffsetMayLeadToAnotherDayMonthOrYear) {
  EXPECT_EQ(canonicalTime("2026-01-01T08:59:59.999999+09:00"), "2025-12-31T23:59:59.999999Z");
  EXPECT_EQ(canonicalTime("2028-02-28T23:00:00-02:00"), "2028-02-29T01:00:00.000000Z");
  EXPECT_EQ(canonicalTime("0999-12-31T23:00:00-02:00"), "1000-01-01T01:00:00.000000Z");
  EXPECT_EQ(canonicalTime("0100-01-01T00:00:00+00:01"), "0099-12-31T23:59:00.000000Z");
}

TEST(LocalTime, AnOffsetMustNotLeadOutOfTheYearsInAnyZone) {
  for (const auto* text : {"0001-01-01T00:00:00Z", "0001-01-02T00:00:00+00:01",
                           "9999-12-31T00:00:00Z", "9999-12-30T23:59:00-00:01"})
    EXPECT_EQ(canonicalTime(text), std::nullopt) << text;
  for (const auto* text : {"0001-01-02T00:00:00Z", "9999-12-30T23:59:59Z"})
    EXPECT_TRUE(canonicalTime(text)) << text;
}

TEST(LocalTime, TheOrderOfALocalTimeAndOneWithAnOffsetIsNotKnown) {
  EXPECT_EQ(isBefore("2026-05-20T18:00:00.000000", "2026-05-20T18:00:00.000001"), true);
  EXPECT_EQ(isBefore("2026-05-20T18:00:00.000000", "2026-05-20T18:00:00.000000"), false);
  EXPECT_EQ(
      isBefore(*canonicalTime("2026-05-20T18:00:00+09:00"), *canonicalTime("2026-05-20T10:00:00Z")),
      true);
  EXPECT_EQ(isBefore("2026-05-20T18:00:00.000000", "2020-05-20T18:00:00.000000Z"), std::nullopt);
}

TEST(LocalTime, OtherNotationsAreRefused) {
  for (const auto* text : {"2026-05-20t18:00:00",
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
                           "2026-05-20 18:00:00Z",
                           "2026-05-20 18:00:00+09:00",
                           "2026-05-20T18:00:00z",
                           "2026-05-20T18:00:00 Z",
                           "2026-05-20T18:00:00ZZ",
                           "2026-05-20T18:00:00Z09:00",
                           "2026-05-20T18:00:00+09",
                           "2026-05-20T18:00:00+0900",
                           "2026-05-20T18:00:00+9:00",
                           "2026-05-20T18:00:00+24:00",
                           "2026-05-20T18:00:00+09:60",
                           "2026-05-20T18:00:00+09:00:00",
                           "2026-05-20T18:00:00+09:00Z",
                           "2026-05-20T18:00:00[Asia/Seoul]",
                           "2026-05-20Z",
                           "2026-05-20T+09:00",
                           "infinity",
                           "now"})
    EXPECT_EQ(canonicalTime(text), std::nullopt) << text;
}

}  // namespace festa::test
