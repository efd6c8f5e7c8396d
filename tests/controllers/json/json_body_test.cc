#include "controllers/json/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace festa::test {

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::optional<ErrorCode> failureOf(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const ServiceError& error) {
    return error.code();
  }
}

// For a valid body: nothing.
std::optional<ErrorCode> parseFailure(std::string_view text) {
  return failureOf([&] { parseJsonObject(text); });
}

std::optional<ErrorCode> bodyFailure(const std::string& contentType, const std::string& body) {
  const auto request = drogon::HttpRequest::newHttpRequest();
  if (!contentType.empty()) request->addHeader("Content-Type", contentType);
  request->setBody(body);
  return failureOf([&] { parseJsonBody(*request, 1000); });
}

std::string nested(int levels) {
  std::string text = "{\"a\":";
  for (int i = 1; i < levels; ++i) text += '[';
  for (int i = 1; i < levels; ++i) text += ']';
  return levels == 1 ? "{}" : text + '}';
}

std::vector<FieldError> errorsOf(const FieldReader& reader) {
  try {
    reader.done();
    return {};
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kValidationFailed);
    return error.fields();
  }
}

// The English texts of what `read(FieldReader&)` finds wrong with {"f": <value>}.
template <class Read>
std::vector<std::string> wrong(const std::string& value, Read read) {
  const auto object = parseJsonObject(value.empty() ? "{}" : "{\"f\":" + value + "}");
  FieldReader reader(object);
  read(reader);
  std::vector<std::string> texts;
  for (const auto& error : errorsOf(reader)) {
    EXPECT_EQ(error.field, "f");
    EXPECT_FALSE(error.ko.empty());
    texts.push_back(error.en);
  }
  return texts;
}

std::vector<std::string> wrongText(const std::string& value, std::size_t most = 10) {
  return wrong(value, [&](FieldReader& reader) { reader.text("f", most); });
}

std::vector<std::string> wrongPassword(const std::string& value) {
  return wrong(value, [](FieldReader& reader) { reader.password("f", 4, 6); });
}

std::vector<std::string> wrongDate(const std::string& value) {
  return wrong(value, [](FieldReader& reader) { reader.date("f"); });
}

std::vector<std::string> wrongFlag(const std::string& value) {
  return wrong(value, [](FieldReader& reader) { reader.flag("f"); });
}

std::vector<std::string> wrongId(const std::string& value) {
  return wrong(value, [](FieldReader& reader) { reader.id("f"); });
}

constexpr auto kRequired = "is required";
constexpr auto kNotText = "must be a string";
constexpr auto kNotStorable = "contains characters that are not allowed";
constexpr auto kNotId = "must be a positive integer";
constexpr auto kNotDate = "must be a date, yyyy-MM-dd";
constexpr auto kNotFlag = "must be true or false";

using Limits = std::numeric_limits<std::int64_t>;

}  // namespace

TEST(JsonBody, AnObjectIsReadWithAllItsMembers) {
  const auto object = parseJsonObject(" {\"title\": \"공지\", \"n\": [1, {\"x\": null}]}\r\n");
  EXPECT_EQ(object["title"].asString(), "공지");
  EXPECT_EQ(object["n"][0].asInt(), 1);
  EXPECT_TRUE(object["n"][1].isMember("x"));
  EXPECT_EQ(parseFailure("{}"), std::nullopt);
}

TEST(JsonBody, AnythingButAnObjectAtTheRootIsMalformed) {
  for (const auto* text :
       {"", " ", "[]", "[{}]", "1", "\"text\"", "true", "null", "x", "{", "}", "{]"})
    EXPECT_EQ(parseFailure(text), ErrorCode::kMalformedJson) << text;
}

TEST(JsonBody, CommentsAreMalformed) {
  for (const auto* text : {"/* c */{}", "// c\n{}", "{}// c", "{\"a\":/* c */1}", "# c\n{}"})
    EXPECT_EQ(parseFailure(text), ErrorCode::kMalformedJson) << text;
}

TEST(JsonBody, TrailingTextIsMalformed) {
  for (const auto* text : {"{}x", "{} {}", "{},", "{}}", "{}\n1"})
    EXPECT_EQ(parseFailure(text), ErrorCode::kMalformedJson) << text;
}

TEST(JsonBody, DuplicateKeysAreMalformedAtAnyDepth) {
  for (const auto* text : {R"({"a":1,"a":1})", R"({"a":1,"b":2,"a":3})", R"({"x":{"a":1,"a":2}})",
                           R"({"a":1,"\u0061":2})"})
    EXPECT_EQ(parseFailure(text), ErrorCode::kMalformedJson) << text;
}

TEST(JsonBody, WritingsThatOnlyLookLikeJsonAreMalformed) {
  for (const auto* text : {"{'a':1}", "{a:1}", "{\"a\":1,}", "{\"a\":[1,]}", "{\"a\"}", "{\"a\":}",
                           "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":-Infinity}", "{\"a\":True}",
                           "{\"a\":\"x}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{1:2}"})
    EXPECT_EQ(parseFailure(text), ErrorCode::kMalformedJson) << text;
}

TEST(JsonBody, DeepNestingIsMalformedAndDoesNotExhaustTheStack) {
  EXPECT_EQ(parseFailure(nested(1)), std::nullopt);
  EXPECT_EQ(parseFailure(nested(20)), std::nullopt);
  EXPECT_EQ(parseFailure(nested(40)), ErrorCode::kMalformedJson);
  EXPECT_EQ(parseFailure(nested(100'000)), ErrorCode::kMalformedJson);
  EXPECT_EQ(parseFailure("{\"a\":" + std::string(100'000, '[')), ErrorCode::kMalformedJson);
}

TEST(JsonBody, BytesThatAreNotUtf8AreMalformed) {
  for (const auto* text : {"{\"a\":\"\xC3\"}", "{\"a\":\"\xFF\"}", "{\"\xC0\xAF\":1}", "{}\x80",
                           "{\"a\":\"\xED\xA0\x80\"}"})
    EXPECT_EQ(parseFailure(text), ErrorCode::kMalformedJson) << testing::PrintToString(text);
}

TEST(JsonBody, OnlyBodiesDeclaredAsJsonAreRead) {
  for (const auto* type : {"application/json", "application/json; charset=utf-8",
                           "Application/JSON", "application/json ;charset=utf-8"})
    EXPECT_EQ(bodyFailure(type, "{}"), std::nullopt) << type;
  for (const auto* type :
       {"", "text/plain", "application/jsonp", "application/x-www-form-urlencoded",
        "text/plain; application/json", "multipart/form-data; boundary=x", ";"})
    EXPECT_EQ(bodyFailure(type, "{}"), ErrorCode::kUnsupportedMediaType) << type;
  EXPECT_EQ(bodyFailure("application/json", ""), ErrorCode::kMalformedJson);
}

TEST(FieldReader, RightFieldsAreReadAndUnknownOnesIgnored) {
  const auto object = parseJsonObject(
      R"({"title":" 공지 ","password":"비밀번호","day":"2028-02-29","pinned":true,"id":7,"x":{}})");
  FieldReader reader(object);
  EXPECT_EQ(reader.text("title", 4), " 공지 ");
  EXPECT_EQ(reader.password("password", 4, 4), "비밀번호");
  EXPECT_EQ(reader.date("day"), "2028-02-29");
  EXPECT_TRUE(reader.flag("pinned"));
  EXPECT_EQ(reader.id("id"), 7);
  EXPECT_THAT(errorsOf(reader), IsEmpty());
}

TEST(FieldReader, WrongFieldsAreReadAsHarmlessValues) {
  const auto object = parseJsonObject(R"({"t":1,"p":[],"d":{},"f":"true","i":"1"})");
  FieldReader reader(object);
  EXPECT_EQ(reader.text("t", 10), "");
  EXPECT_EQ(reader.password("p", 1, 10), "");
  EXPECT_EQ(reader.date("d"), "");
  EXPECT_FALSE(reader.flag("f"));
  EXPECT_EQ(reader.id("i"), 0);
  EXPECT_EQ(errorsOf(reader).size(), 5U);
}

TEST(FieldReader, AllThatIsWrongIsCollectedInTheOrderOfReading) {
  const auto object = parseJsonObject(R"({"title":"","id":0})");
  FieldReader reader(object);
  reader.text("title", 10);
  reader.date("day");
  reader.id("id");
  reader.reject("other", "안 됩니다.", "no");
  std::vector<std::string> fields;
  for (const auto& error : errorsOf(reader)) fields.push_back(error.field);
  EXPECT_THAT(fields, ElementsAre("title", "day", "id", "other"));
  EXPECT_EQ(errorsOf(reader).back().ko, "안 됩니다.");
  EXPECT_EQ(errorsOf(reader).back().en, "no");
}

TEST(FieldReader, MissingAndNullFieldsAreRequired) {
  for (const auto* value : {"", "null"}) {
    EXPECT_THAT(wrongText(value), ElementsAre(kRequired));
    EXPECT_THAT(wrongPassword(value), ElementsAre(kRequired));
    EXPECT_THAT(wrongDate(value), ElementsAre(kRequired));
    EXPECT_THAT(wrongFlag(value), ElementsAre(kNotFlag));
    EXPECT_THAT(wrongId(value), ElementsAre(kNotId));
  }
}

TEST(FieldReader, ValuesOfAnotherTypeAreNotText) {
  for (const auto* value : {"1", "1.5", "true", "[]", "{}", "[\"a\"]"}) {
    EXPECT_THAT(wrongText(value), ElementsAre(kNotText)) << value;
    EXPECT_THAT(wrongPassword(value), ElementsAre(kNotText)) << value;
    EXPECT_THAT(wrongDate(value), ElementsAre(kNotText)) << value;
  }
}

TEST(FieldReader, LengthIsCountedInCharactersNotBytes) {
  EXPECT_THAT(wrongText("\"가나다라마\"", 5), IsEmpty());
  EXPECT_THAT(wrongText("\"🎉🎉🎉🎉🎉\"", 5), IsEmpty());
  EXPECT_THAT(wrongText(R"("\ud83c\udf89")", 1), IsEmpty());
  EXPECT_THAT(wrongText("\"가나다라마바\"", 5), ElementsAre("must have at most 5 characters"));
  EXPECT_THAT(wrongPassword("\"가나다라마바\""), IsEmpty());
  EXPECT_THAT(wrongPassword("\"가나다\""), ElementsAre("must have 4 to 6 characters"));
  EXPECT_THAT(wrongPassword("\"가나다라마바사\""), ElementsAre("must have 4 to 6 characters"));
}

TEST(FieldReader, BlankTextIsRejectedButAPasswordMayBeSpaces) {
  for (const auto* value : {R"("")", R"("  \t\n")", "\"\u3000\"", R"("\u3000\u00a0 ")"})
    EXPECT_THAT(wrongText(value), ElementsAre("must not be blank")) << value;
  EXPECT_THAT(wrongPassword("\"    \""), IsEmpty());
}

TEST(FieldReader, TextThatCannotBeStoredIsRejected) {
  for (const auto* value : {R"("a\u0000b")", R"("\u0000")"}) {
    EXPECT_THAT(wrongText(value), ElementsAre(kNotStorable)) << value;
    EXPECT_THAT(wrongPassword(value), ElementsAre(kNotStorable)) << value;
    EXPECT_THAT(wrongDate(value), ElementsAre(kNotStorable)) << value;
  }
}

TEST(FieldReader, OnlyPositive64BitIntegersAreIds) {
  for (const auto* value :
       {"0", "-1", "1.5", "0.0", "1e19", "9223372036854775808", "18446744073709551616",
        "-9223372036854775808", "\"1\"", "true", "[1]", "{}"})
    EXPECT_THAT(wrongId(value), ElementsAre(kNotId)) << value;
  const auto largest = parseJsonObject(R"({"id":9223372036854775807})");
  FieldReader reader(largest);
  EXPECT_EQ(reader.id("id"), std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(errorsOf(reader), IsEmpty());
  for (const auto* value : {"1", "1.0", "1e0", "9223372036854775807.0"})
    EXPECT_THAT(wrongId(value), IsEmpty()) << value;
}

TEST(FieldReader, OnlyWholeNumbersWithinTheirBoundsAreNumbers) {
  const auto object = parseJsonObject(
      R"({"a":25.0,"b":2.5e1,"c":25.5,"d":150.0,"e":151.0,"f":1e300,"g":-0.0,"h":"25"})");
  FieldReader reader(object);
  for (const auto* field : {"a", "b"}) EXPECT_EQ(reader.number(field, 0, 150), 25);
  EXPECT_EQ(reader.number("d", 0, 150), 150);
  EXPECT_EQ(reader.number("g", 0, 150), 0);
  EXPECT_THAT(errorsOf(reader), IsEmpty());
  for (const auto* field : {"c", "e", "f", "h"}) {
    reader.number(field, 0, 150);
    EXPECT_FALSE(reader.isRight(field)) << field;
  }
}

TEST(JsonBody, ANumberThatNoDoubleHoldsIsMalformed) {
  for (const auto* text : {R"({"a":1e400})", R"({"a":-1e400})", R"({"a":[1e999999999999]})"})
    EXPECT_THROW(parseJsonObject(text), ServiceError) << text;
}

TEST(FieldReader, AFlagThatMayBeAbsentIsFalseThen) {
  const auto object = parseJsonObject(R"({"a":true,"b":false,"c":null,"d":"true","e":0})");
  FieldReader reader(object);
  EXPECT_TRUE(reader.flagOrFalse("a"));
  for (const auto* field : {"b", "c", "missing"}) EXPECT_FALSE(reader.flagOrFalse(field)) << field;
  EXPECT_THAT(errorsOf(reader), IsEmpty());
  for (const auto* field : {"d", "e"}) {
    EXPECT_FALSE(reader.flagOrFalse(field));
    EXPECT_FALSE(reader.isRight(field)) << field;
  }
}

TEST(FieldReader, OnlyTrueAndFalseAreFlags) {
  EXPECT_THAT(wrongFlag("true"), IsEmpty());
  EXPECT_THAT(wrongFlag("false"), IsEmpty());
  for (const auto* value : {"1", "0", "\"true\"", "\"\"", "[]", "{}"})
    EXPECT_THAT(wrongFlag(value), ElementsAre(kNotFlag)) << value;
}

TEST(FieldReader, OnlyDaysOfTheCalendarAreDates) {
  for (const auto* day : {"2026-01-01", "2026-12-31", "2024-02-29", "2000-02-29", "0001-01-01"})
    EXPECT_THAT(wrongDate('"' + std::string(day) + '"'), IsEmpty()) << day;
  for (const auto* day : {"2026-02-30", "2026-02-29", "1900-02-29", "2026-13-01",  "2026-00-10",
                          "2026-01-00", "2026-04-31", "0000-01-01", "-001-01-01",  "2026-1-01",
                          "26-01-01",   "2026/01/01", "20260101",   "2026-01-01T", " 2026-01-1",
                          "2026-01- 1", "2026-01-1x", "2026-+1-01", "tomorrow",    ""})
    EXPECT_THAT(wrongDate('"' + std::string(day) + '"'), ElementsAre(kNotDate)) << day;
}

TEST(JsonBody, WhatRfc8259ForbidsIsMalformedHoweverHarmlessItLooks) {
  const std::vector<std::string> bad{
      std::string("{}\0trailing", 11),
      std::string("{\"a\":1}\0{\"b\":2}", 15),
      "{/* c */}",
      "{\"a\":1 // c\n}",
      "{\"a\":1,/*c*/\"b\":2}",
      "{\"a\":+1}",
      "{\"a\":007}",
      "{\"a\":-01}",
      "{\"a\":-}",
      "{\"a\":1.}",
      "{\"a\":\"line\nbreak\"}",
      "{\"a\":\"\\ud800\\u0041\"}",
      "{\"a\":\"\\udc00\"}",
      "\xEF\xBB\xBF{}",
      "{\"\\u0000\":1}",
      "{\"a\\u0000b\":1}",
  };
  for (const auto& text : bad)
    EXPECT_THROW(parseJsonObject(text), ServiceError) << testing::PrintToString(text);
}

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
