#include "controllers/json/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace festa::test {

using namespace std::string_literals;

TEST(Utf8, LengthCountsCodePointsNotBytes) {
  EXPECT_EQ(utf8Length(""), 0U);
  EXPECT_EQ(utf8Length("abc"), 3U);
  EXPECT_EQ(utf8Length("é"), 1U);
  EXPECT_EQ(utf8Length("축제 공지"), 5U);
  EXPECT_EQ(utf8Length("🎉🎉"), 2U);
  EXPECT_EQ(utf8Length("a\0b"s), 3U);
}

TEST(Utf8, FirstAndLastCodePointOfEachLengthAreValid) {
  for (const auto& text :
       {"\x7F"s, "\xC2\x80"s, "\xDF\xBF"s, "\xE0\xA0\x80"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s,
        "\xEF\xBF\xBF"s, "\xF0\x90\x80\x80"s, "\xF4\x8F\xBF\xBF"s})
    EXPECT_EQ(utf8Length(text), 1U) << testing::PrintToString(text);
}

TEST(Utf8, WhatIsNotValidIsReplacedByteByByteAndTheRestStays) {
  EXPECT_EQ(toUtf8("축제 🎉 \0"s), "축제 🎉 \0"s);
  EXPECT_EQ(toUtf8(""), "");
  EXPECT_EQ(toUtf8("a\xFF\xC3"
                   "b"s),
            "a\uFFFD\uFFFDb");
  EXPECT_EQ(toUtf8("\xED\xA0\x80"s), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(toUtf8("\xE2\x82"s), "\uFFFD\uFFFD") << "cut off at the end";
}

TEST(Utf8, OverlongFormsAreNotValid) {
  for (const auto& text : {"\xC0\x80"s, "\xC0\xAF"s, "\xC1\xBF"s, "\xE0\x80\x80"s, "\xE0\x9F\xBF"s,
                           "\xF0\x80\x80\x80"s, "\xF0\x8F\xBF\xBF"s})
    EXPECT_EQ(utf8Length(text), std::nullopt) << testing::PrintToString(text);
}

TEST(Utf8, SurrogatesAndValuesAboveTheLastCodePointAreNotValid) {
  for (const auto& text : {"\xED\xA0\x80"s, "\xED\xBF\xBF"s, "\xED\xA0\xBD\xED\xB8\x80"s,
                           "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFE"s, "\xFF"s})
    EXPECT_EQ(utf8Length(text), std::nullopt) << testing::PrintToString(text);
}

TEST(Utf8, CutOffAndStrayBytesAreNotValid) {
  for (const auto& text : {"\x80"s, "\xBF"s, "a\x80"s, "\xC3"s, "\xC3("s, "\xE3\x80"s, "\xE3\x80z"s,
                           "\xE3(\x80"s, "\xF0\x9F\x8E"s, "\xF0\x9F\x8Ez"s, "ok\xC3\xA9\xC3"s})
    EXPECT_EQ(utf8Length(text), std::nullopt) << testing::PrintToString(text);
}

TEST(Utf8, ACutOffViewDoesNotLookBeyondItsEnd) {
  const std::string_view whole = "é";
  EXPECT_EQ(utf8Length(whole.substr(0, 1)), std::nullopt);
}

TEST(Utf8, WhiteSpaceOfAnyKindIsBlank) {
  for (const auto* text : {"", " ", " \t\r\n\v\f", "\u00A0", "\u0085", "\u1680", "\u2003", "\u2028",
                           "\u202F", "\u205F", "\u3000", "\uFEFF", "\u3000 \u00A0\t"})
    EXPECT_TRUE(isBlank(text)) << testing::PrintToString(text);
}

TEST(Utf8, OneVisibleCharacterIsNotBlank) {
  for (const auto& text :
       {"."s, "  a  "s, "\u3000가"s, "가\u3000"s, "🎉"s, "\u3001"s, "\0"s, "\xC3"s})
    EXPECT_FALSE(isBlank(text)) << testing::PrintToString(text);
}

}  // namespace festa::test
