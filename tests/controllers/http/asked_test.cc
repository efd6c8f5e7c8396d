#include "controllers/http/asked.h"

#include "tests/controllers/errors/problem_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

// The problem that a client gets for it.
template <class Parse>
Json::Value refusalOf(Parse parse, const std::string& languages = "en") {
  try {
    parse();
    ADD_FAILURE() << "accepted";
    return {};
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
    return bodyOf(problem(request(languages), error));
  }
}

Json::Value refusalOfId(const std::string& text, const std::string& languages = "en") {
  return refusalOf([&] { parseId(text, inPath("id")); }, languages);
}

}  // namespace

TEST(ParameterTest, AnIdIsAPositiveNumberThatIsWrittenInOneWay) {
  EXPECT_EQ(parseId("1", inPath("id")), 1);
  EXPECT_EQ(parseId("9223372036854775807", inPath("id")), 9223372036854775807);
  for (const auto* text :
       {"", "0", "01", "-1", "+1", " 1", "1 ", "1a", "1.0", "0x1", "١", "9223372036854775808"})
    EXPECT_EQ(refusalOfId(text)["errors"][0]["field"].asString(), "id") << text;
}

TEST(ParameterTest, ANumberIsWithinItsBounds) {
  EXPECT_EQ(parseNumber("500", inQuery("perPage"), 1, 500), 500);
  const auto refusal = refusalOf([] { parseNumber("501", inQuery("perPage"), 1, 500); });
  EXPECT_EQ(refusal["message"].asString(), "perPage (query) must be a whole number from 1 to 500.");
}

TEST(ParameterTest, ATextIsStorableAndShort) {
  EXPECT_EQ(parseText("", inQuery("location"), 2), "");
  EXPECT_EQ(parseText("가나", inQuery("location"), 2), "가나");
  for (const auto& text : {std::string("가나다"), std::string("\xff"), std::string(1, '\0')})
    EXPECT_EQ(refusalOf([&] { parseText(text, inQuery("location"), 2); })["errors"][0]["message"],
              "must be text in UTF-8 of at most 2 characters");
}

TEST(ParameterTest, ARefusalNamesTheParameterItsPlaceAndTheReasonInBothLanguages) {
  const auto english = refusalOf([] { parseId("", inHeader("festival")); });
  EXPECT_EQ(english["message"].asString(),
            "festival (header) is missing; it must be a positive whole number.");
  EXPECT_EQ(english["detail"], english["message"]);
  ASSERT_EQ(english["errors"].size(), 1U);
  EXPECT_EQ(english["errors"][0]["field"].asString(), "festival");
  EXPECT_EQ(english["errors"][0]["in"].asString(), "header");
  EXPECT_EQ(english["errors"][0]["message"].asString(),
            "is missing; it must be a positive whole number");
  const auto korean = refusalOf([] { parseId("", inHeader("festival")); }, "ko");
  EXPECT_EQ(korean["message"].asString(),
            "festival (헤더): 값이 없습니다. 양의 정수가 필요합니다.");
  EXPECT_EQ(korean["errors"][0]["message"].asString(), "값이 없습니다. 양의 정수가 필요합니다.");
}

TEST(ParameterTest, WhatIsNamedLikeItsPlaceIsNamedOnce) {
  const ServiceError error = invalidParameter(inPath("path"), "깁니다.", "is long");
  EXPECT_EQ(bodyOf(problem(request("en"), error))["message"].asString(), "path is long.");
}

TEST(ParameterTest, TheValueIsNotRepeated) {
  const std::string junk = "<script>\"\\\xff";
  for (const auto* languages : {"ko", "en"})
    for (const auto& member : refusalOfId(junk, languages))
      EXPECT_THAT(member.toStyledString(), testing::Not(testing::HasSubstr("script")));
}

}  // namespace festa::test
