#include "controllers/json/json_writer.h"

#include <gtest/gtest.h>
#include <json/json.h>

#include <limits>
#include <memory>

namespace festa::test {

namespace {

std::string quoted(std::string_view text) {
  std::string out;
  appendQuoted(out, text);
  return out;
}

Json::Value parsed(const std::string& text) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value value;
  std::string errors;
  EXPECT_TRUE(reader->parse(text.data(), text.data() + text.size(), &value, &errors)) << errors;
  return value;
}

}  // namespace

TEST(JsonWriter, NullsAreSeparatedLikeOtherValues) {
  JsonWriter json;
  json.beginObject().key("a").null().key("b").beginArray().null().null().endArray().endObject();
  EXPECT_EQ(json.take(), R"({"a":null,"b":[null,null]})");
}

TEST(JsonWriter, EmptyObjectsAndArraysHaveNoCommas) {
  EXPECT_EQ(JsonWriter().beginObject().endObject().take(), "{}");
  EXPECT_EQ(JsonWriter().beginArray().endArray().take(), "[]");
  EXPECT_EQ(
      JsonWriter().beginArray().beginArray().endArray().beginObject().endObject().endArray().take(),
      "[[],{}]");
}

TEST(JsonWriter, MembersAreSeparatedByCommasInTheirOrder) {
  JsonWriter json;
  json.beginObject().member("b", "x").member("a", std::int64_t{1}).member("c", true).endObject();
  EXPECT_EQ(json.take(), R"({"b":"x","a":1,"c":true})");
}

TEST(JsonWriter, ElementsAreSeparatedByCommas) {
  JsonWriter json;
  json.beginArray().value("x").value(std::int64_t{2}).value(false).endArray();
  EXPECT_EQ(json.take(), R"(["x",2,false])");
}

TEST(JsonWriter, MembersAfterANestedValueAreSeparatedToo) {
  JsonWriter json;
  json.beginObject().key("list").beginArray();
  json.beginObject().member("id", std::int64_t{1}).endObject();
  json.beginObject().member("id", std::int64_t{2}).endObject();
  json.endArray().key("page").beginObject().member("more", false).endObject();
  json.member("total", std::int64_t{2}).endObject();
  EXPECT_EQ(json.take(), R"({"list":[{"id":1},{"id":2}],"page":{"more":false},"total":2})");
}

TEST(JsonWriter, TextOfAnyTypeIsAStringAndNotAFlag) {
  const char* const pointer = "p";
  JsonWriter json;
  json.beginArray().value(pointer).value(std::string("s")).value(std::string_view("v")).endArray();
  EXPECT_EQ(json.take(), R"(["p","s","v"])");
}

TEST(JsonWriter, NumbersKeepAllTheirDigits) {
  JsonWriter json;
  json.beginArray();
  json.value(std::numeric_limits<std::int64_t>::min()).value(std::int64_t{0});
  json.value(std::numeric_limits<std::int64_t>::max()).endArray();
  EXPECT_EQ(json.take(), "[-9223372036854775808,0,9223372036854775807]");
}

TEST(JsonWriter, WhatIsNotThereIsNull) {
  JsonWriter json;
  json.beginObject().member("a", std::optional<std::int64_t>());
  json.member("b", std::optional<std::string>("text")).endObject();
  EXPECT_EQ(json.take(), R"({"a":null,"b":"text"})");
}

TEST(JsonWriter, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted(R"(a"b\c/d)"), R"("a\"b\\c/d")");
  EXPECT_EQ(quoted("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(quoted(std::string_view("\0\x01\b\f\x1F", 5)), R"("\u0000\u0001\u0008\u000c\u001f")");
}

TEST(JsonWriter, NonAsciiTextIsWrittenAsItIs) {
  EXPECT_EQ(quoted("공지 🎉\x7F"), "\"공지 🎉\x7F\"");
}

TEST(JsonWriter, AParserReadsBackEveryAsciiCharacter) {
  std::string all;
  for (char c = 0; c < 0x7F; ++c) all += c;
  const auto value = parsed(JsonWriter().beginObject().member("text", all).endObject().take());
  EXPECT_EQ(value["text"].asString(), all);
}

}  // namespace festa::test
