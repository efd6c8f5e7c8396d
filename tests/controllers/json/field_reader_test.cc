#include "controllers/json/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> rejected(const FieldReader& reader) {
  std::vector<std::string> fields;
  try {
    reader.done();
  } catch (const ServiceError& error) {
    for (const auto& field : error.fields()) fields.push_back(field.field);
  }
  return fields;
}

// What is wrong with the list `{"items":…}` of objects with a number `n` from 1 to 9.
std::vector<std::string> wrongItems(const std::string& items) {
  const auto object = parseJsonObject(R"({"items":)" + items + "}");
  FieldReader reader(object);
  reader.each("items", 3, [](FieldReader& item) { item.number("n", 1, 9); });
  return rejected(reader);
}

}  // namespace

TEST(FieldReaderList, EachItemIsReadInOrder) {
  const auto object = parseJsonObject(R"({"items":[{"n":3},{"n":1},{"n":2}]})");
  FieldReader reader(object);
  std::vector<std::int64_t> numbers;
  reader.each("items", 3, [&](FieldReader& item) { numbers.push_back(item.number("n", 1, 9)); });
  EXPECT_THAT(numbers, ElementsAre(3, 1, 2));
  EXPECT_THAT(rejected(reader), IsEmpty());
}

TEST(FieldReaderList, WhatIsWrongIsNamedByItsPlace) {
  EXPECT_THAT(wrongItems(R"([{"n":1},{"n":0},{}])"), ElementsAre("items[1].n", "items[2].n"));
  EXPECT_THAT(wrongItems(R"([1,{"n":1},[]])"), ElementsAre("items[0]", "items[2]"));
}

TEST(FieldReaderList, OnlyListsOfTheRightLengthAreRead) {
  for (const auto* items :
       {"[]", R"([{"n":1},{"n":1},{"n":1},{"n":1}])", "{}", "1", "null", "\"\""})
    EXPECT_THAT(wrongItems(items), ElementsAre("items")) << items;
}

TEST(FieldReaderChoice, OnlyNamesOfTheListAreAccepted) {
  const auto object = parseJsonObject(R"({"a":"PLAY","b":"play","c":1,"d":""})");
  FieldReader reader(object);
  const std::vector<std::string> allowed{"CONCERT", "PLAY"};
  EXPECT_EQ(reader.choice("a", allowed), "PLAY");
  for (const auto* field : {"b", "c", "d", "missing"}) reader.choice(field, allowed);
  EXPECT_THAT(rejected(reader), ElementsAre("b", "c", "d", "missing"));
}

TEST(FieldReaderLocalTime, ComesOutInOneFormAndWrongOnesAreRejected) {
  const auto object =
      parseJsonObject(R"({"a":"2026-05-20 18:00:00","b":"2026-02-30 18:00:00","c":1})");
  FieldReader reader(object);
  EXPECT_EQ(reader.dateTime("a"), "2026-05-20T18:00:00.000000");
  reader.dateTime("b");
  reader.dateTime("c");
  EXPECT_TRUE(reader.isRight("a"));
  EXPECT_FALSE(reader.isRight("b"));
  EXPECT_THAT(rejected(reader), ElementsAre("b", "c"));
}

TEST(FieldReaderId, MayBeAbsentOrNullButNotWrong) {
  const auto object = parseJsonObject(R"({"a":7,"b":null,"c":0,"d":"7"})");
  FieldReader reader(object);
  EXPECT_EQ(reader.idIfAny("a"), 7);
  EXPECT_EQ(reader.idIfAny("b"), std::nullopt);
  EXPECT_EQ(reader.idIfAny("missing"), std::nullopt);
  reader.idIfAny("c");
  reader.idIfAny("d");
  EXPECT_THAT(rejected(reader), ElementsAre("c", "d"));
}

TEST(FieldReaderUrl, OnlyAddressesOfTheWebAreTaken) {
  const auto object = parseJsonObject(
      R"({"a":"https://example.com/p.jpg","b":"http://e","c":"data:image/png;base64,AA",)"
      R"("d":"javascript:x","e":"https://","f":"https:///p","g":"http://e/ p","h":"","i":1})");
  FieldReader reader(object);
  EXPECT_EQ(reader.url("a"), "https://example.com/p.jpg");
  EXPECT_EQ(reader.url("b"), "http://e");
  for (const auto* field : {"c", "d", "e", "f", "g", "h", "i", "missing"}) reader.url(field);
  EXPECT_THAT(rejected(reader), ElementsAre("c", "d", "e", "f", "g", "h", "i", "missing"));
}

TEST(FieldReaderUrl, MayBeLeftOutIfOptional) {
  const auto object = parseJsonObject(R"({"a":"","b":null,"c":"http://e","d":" ","e":"x"})");
  FieldReader reader(object);
  for (const auto* field : {"a", "b", "missing"}) EXPECT_EQ(reader.urlOrEmpty(field), "");
  EXPECT_EQ(reader.urlOrEmpty("c"), "http://e");
  for (const auto* field : {"d", "e"}) reader.urlOrEmpty(field);
  EXPECT_THAT(rejected(reader), ElementsAre("d", "e"));
}

TEST(FieldReaderTime, IsHoursAndMinutes) {
  const auto object = parseJsonObject(R"({"a":"00:00","b":"23:59","c":"24:00","d":"9:00","e":1})");
  FieldReader reader(object);
  EXPECT_EQ(reader.clockTime("a"), "00:00");
  EXPECT_EQ(reader.clockTime("b"), "23:59");
  for (const auto* field : {"c", "d", "e", "missing"}) reader.clockTime(field);
  EXPECT_THAT(rejected(reader), ElementsAre("c", "d", "e", "missing"));
}

TEST(FieldReaderText, MayBeBlankIfOptional) {
  const auto object = parseJsonObject(R"({"a":"","b":" ","c":"가나다","d":"가나다라","e":null})");
  FieldReader reader(object);
  EXPECT_EQ(reader.textOrEmpty("a", 3), "");
  EXPECT_EQ(reader.textOrEmpty("b", 3), " ");
  EXPECT_EQ(reader.textOrEmpty("c", 3), "가나다");
  for (const auto* field : {"d", "e", "missing"}) reader.textOrEmpty(field, 3);
  EXPECT_THAT(rejected(reader), ElementsAre("d", "e", "missing"));
}

}  // namespace festa::test
