#include "lock/lockable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace festa::test {

using namespace std::string_literals;
using lock::KeyTemplate;
using lock::KeyTemplateError;
using lock::KeyVariables;
using lock::MissingKeyVariable;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

const std::set<std::string> kKnown{"a", "b", "path.performanceId", "body.seatLocation",
                                   "body.seatNumber"};

KeyTemplate compile(std::string_view text) {
  return KeyTemplate::compile(text, kKnown);
}

using Values = std::map<std::string, std::string, std::less<>>;

class MapVariables : public KeyVariables {
 public:
  explicit MapVariables(const Values& values) : values_(values) {}
  std::optional<std::string> variable(std::string_view name) const override {
    const auto found = values_.find(name);
    return found != values_.end() ? std::optional(found->second) : std::nullopt;
  }

 private:
  const Values& values_;
};

std::string render(const KeyTemplate& key, const Values& values) {
  return key.render(MapVariables(values));
}

std::string render(std::string_view text, const Values& values) {
  return render(compile(text), values);
}

std::string missing(std::string_view text, const Values& values) {
  try {
    return "rendered " + render(text, values);
  } catch (const MissingKeyVariable& error) {
    return error.name();
  }
}

std::string whyRefused(std::string_view text) {
  try {
    compile(text);
    return "accepted";
  } catch (const KeyTemplateError& error) {
    return error.what();
  }
}

using Seat = std::array<std::string, 3>;

std::string seatKey(const Seat& seat) {
  static const auto key =
      compile("seat:{path.performanceId}:{body.seatLocation}:{body.seatNumber}");
  return render(key, {{"path.performanceId", seat[0]},
                      {"body.seatLocation", seat[1]},
                      {"body.seatNumber", seat[2]}});
}

// Short values over characters that look like separators, escapes and braces, and halves of UTF-8.
std::string nastyValue(std::mt19937& random) {
  static const auto kAlphabet = ":%{}aA123 .\0\xC3\xA9-"s;
  std::string value;
  for (auto length = 1 + random() % 4; length > 0; --length)
    value += kAlphabet[random() % kAlphabet.size()];
  return value;
}

}  // namespace

TEST(KeyTemplate, LiteralTextIsItsOwnKey) {
  const auto key = compile("announcements");
  EXPECT_THAT(key.variables(), IsEmpty());
  EXPECT_EQ(render(key, {}), "announcements");
}

TEST(KeyTemplate, VariableIsReplacedByItsValue) {
  EXPECT_EQ(render("pins:{a}", {{"a", "42"}}), "pins:42");
  EXPECT_EQ(render("{a}", {{"a", "42"}}), "42");
  EXPECT_EQ(render("x.{a}.y", {{"a", "42"}}), "x.42.y");
}

TEST(KeyTemplate, SeveralVariablesAreReplacedInTheirOrder) {
  const auto key = compile("seat:{b}:{a}/{b}!");
  EXPECT_THAT(key.variables(), ElementsAre("b", "a", "b"));
  EXPECT_EQ(render(key, {{"a", "1"}, {"b", "2"}}), "seat:2:1/2!");
}

TEST(KeyTemplate, UnknownVariableIsRefusedByName) {
  EXPECT_THAT(whyRefused("pins:{token.festivalID}"), HasSubstr("token.festivalID"));
  EXPECT_THROW(compile("pins:{}"), KeyTemplateError);
  EXPECT_THROW(compile("pins:{ a }"), KeyTemplateError);
}

TEST(KeyTemplate, UnbalancedBracesAreRefused) {
  for (const auto* text : {"{", "}", "pins:{a", "pins:a}", "pins:{a}}", "{{a}}", "{a}:}", "}{a}"})
    EXPECT_THROW(compile(text), KeyTemplateError) << text;
}

TEST(KeyTemplate, EmptyTemplateIsRefused) {
  EXPECT_THROW(compile(""), KeyTemplateError);
}

TEST(KeyTemplate, VariablesWithoutASeparatorAreRefused) {
  for (const auto* text : {"{a}{b}", "x:{a}{b}", "{a}-{b}", "{a}_and_{b}", "{a}%{b}", "{a}é{b}"})
    EXPECT_THROW(compile(text), KeyTemplateError) << text;
  for (const auto* text : {"{a}:{b}", "{a}/{b}", "{a}x:{b}", "-{a}.{b}-"})
    EXPECT_NO_THROW(compile(text)) << text;
}

TEST(KeyTemplate, MissingOrEmptyValueIsReportedByName) {
  EXPECT_EQ(missing("pins:{a}:{b}", {{"a", "1"}}), "b");
  EXPECT_EQ(missing("pins:{a}:{b}", {{"b", "1"}}), "a");
  EXPECT_EQ(missing("pins:{a}:{b}", {{"a", ""}, {"b", "1"}}), "a");
  EXPECT_EQ(missing("pins:{a}:{b}", {{"a", "1"}, {"b", "1"}}), "rendered pins:1:1");
}

TEST(KeyTemplate, DifferentSplitsOfTheSameTextGiveDifferentKeys) {
  EXPECT_NE(seatKey({"1", "A1", "1"}), seatKey({"1", "A", "11"}));
  EXPECT_NE(seatKey({"1", "A:1", "1"}), seatKey({"1", "A", "1:1"}));
  EXPECT_NE(seatKey({"1:A", "1", "1"}), seatKey({"1", "A:1", "1"}));
}

TEST(KeyTemplate, CharactersOfTheTemplateAreEscapedInValues) {
  EXPECT_EQ(render("x:{a}", {{"a", "1:2"}}), "x:1%3A2");
  EXPECT_EQ(render("x:{a}", {{"a", "1%3A2"}}), "x:1%253A2");
  EXPECT_EQ(render("x:{a}", {{"a", "{a}"}}), "x:%7Ba%7D");
  EXPECT_EQ(render("x:{a}", {{"a", "1\0"s}}), "x:1%00");
}

TEST(KeyTemplate, ValuesAreNotTakenForTemplates) {
  EXPECT_EQ(render("{a}:{b}", {{"a", "{b}"}, {"b", "1"}}), "%7Bb%7D:1");
}

TEST(KeyTemplate, NonAsciiValuesStayReadableAndDistinct) {
  EXPECT_EQ(render("x:{a}", {{"a", "대운동장"}}), "x:대운동장");
  EXPECT_NE(seatKey({"1", "가", "나"}), seatKey({"1", "가나", "1"}));
  EXPECT_NE(render("x:{a}", {{"a", "é"}}), render("x:{a}", {{"a", "%C3%A9"}}));
}

TEST(KeyTemplate, NoTwoOfManyRandomTuplesShareAKey) {
  std::mt19937 random(20260501);
  std::map<std::string, Seat> seatOfKey;
  std::set<Seat> seats;
  for (int i = 0; i < 20'000; ++i) {
    const Seat seat{nastyValue(random), nastyValue(random), nastyValue(random)};
    const auto [entry, isNew] = seatOfKey.emplace(seatKey(seat), seat);
    ASSERT_EQ(entry->second, seat) << "both give " << entry->first;
    seats.insert(seat);
  }
  EXPECT_EQ(seatOfKey.size(), seats.size());
  EXPECT_GT(seats.size(), 10'000U);
}

TEST(KeyTemplate, NoTwoRandomTuplesShareAKeyWhateverTheSeparator) {
  for (const auto* text : {"{a}:{b}", "{a}a:%3A{b}", "a{a}%:1{b}1", "{a} {b}", "{a}:1:{b}"}) {
    std::mt19937 random(7);
    const auto key = compile(text);
    std::map<std::string, Values> valuesOfKey;
    for (int i = 0; i < 5'000; ++i) {
      const Values values{{"a", nastyValue(random)}, {"b", nastyValue(random)}};
      const auto [entry, isNew] = valuesOfKey.emplace(render(key, values), values);
      ASSERT_EQ(entry->second, values) << text << ": both give " << entry->first;
    }
  }
}

}  // namespace festa::test
