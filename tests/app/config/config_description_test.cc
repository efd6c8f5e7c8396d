#include "app/config/config_description.h"

#include "app/config/config_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace festa::test {

namespace {

using testing::EndsWith;
using testing::HasSubstr;

// The line of the document that begins with this key.
std::string rowOf(const std::string& key) {
  std::istringstream text(describeConfig());
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("| `" + key + "` |")) return line;
  return "";
}

std::vector<Field> allFields(Config& config) {
  std::vector<Field> all;
  for (auto& section : sectionsOf(config))
    all.insert(all.end(), section.fields.begin(), section.fields.end());
  return all;
}

template <class Number>
bool isWithinBounds(const Bounded<Number>& bounded) {
  const auto count = countOf(*bounded.member);
  return bounded.least <= count && count <= bounded.most;
}

bool isWithinBounds(const Choice& choice) {
  return std::find(choice.words.begin(), choice.words.end(), *choice.member) != choice.words.end();
}

// Not set, or free.
template <class Other>
bool isWithinBounds(const Other&) {
  return true;
}

bool isWithinBounds(const Bounded<OptionalMillis>& bounded) {
  return !bounded.member->has_value();
}

}  // namespace

TEST(ConfigDescription, IsTheDocumentInTheRepository) {
  std::ifstream file(FESTA_SOURCE_FOLDER "/docs/configuration.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == describeConfig())
      << "docs/configuration.md is not what the table of settings says. Write it again with "
         "'./dev docs' (.build/release/festabook --describe-config > docs/configuration.md).";
}

TEST(ConfigDescription, EveryFieldHasARowWithItsVariable) {
  Config config;
  for (const auto& field : allFields(config))
    EXPECT_THAT(rowOf(field.key), HasSubstr("| `" + variableName(field.key) + "` |"));
}

TEST(ConfigDescription, EveryFieldIsExplainedInASentenceThatFitsATable) {
  Config config;
  for (const auto& field : allFields(config)) {
    EXPECT_THAT(field.help, EndsWith(".")) << field.key;
    EXPECT_THAT(field.help, testing::Not(testing::AnyOf(HasSubstr("|"), HasSubstr("\n"))));
  }
}

TEST(ConfigDescription, KeysAreUniqueAndBelongToTheirSection) {
  Config config;
  std::set<std::string> keys;
  for (const auto& section : sectionsOf(config))
    for (const auto& field : section.fields) {
      const auto dot = field.key.rfind('.');
      EXPECT_EQ(section.name, dot == std::string::npos ? "" : field.key.substr(0, dot));
      EXPECT_TRUE(keys.insert(variableName(field.key)).second) << field.key;
    }
}

TEST(ConfigDescription, DefaultsAreWithinTheirBounds) {
  Config config;
  for (const auto& field : allFields(config))
    EXPECT_TRUE(std::visit([](const auto& value) { return isWithinBounds(value); }, field.value))
        << field.key;
}

TEST(ConfigDescription, RowsHaveTypeDefaultAndBounds) {
  EXPECT_THAT(rowOf("http.port"), HasSubstr("| number | 8080 | 1 … 65535 |"));
  EXPECT_THAT(rowOf("http.header_timeout_ms"),
              HasSubstr("| milliseconds | 10000 | 100 … 86400000 |"));
  EXPECT_THAT(rowOf("queue.sweep_seconds"), HasSubstr("| seconds | 5 | 1 … 3600 |"));
  EXPECT_THAT(rowOf("auth.token_minutes"), HasSubstr("| minutes | 1440 | 1 … 527040 |"));
  EXPECT_THAT(rowOf("idempotency.keep_hours"), HasSubstr("| hours | 24 | 1 … 8784 |"));
  EXPECT_THAT(rowOf("environment"),
              HasSubstr("| word | `development` | `development`, `production` |"));
  EXPECT_THAT(rowOf("lab"), HasSubstr("| `true`, `false` | `false` |  |"));
  EXPECT_THAT(rowOf("auth.jwt_secret"), HasSubstr("| text | – |  |"));
  EXPECT_THAT(rowOf("http.cors_origins"), HasSubstr("| list of texts | – |  |"));
  EXPECT_THAT(rowOf("redlock.nodes"), HasSubstr("| list of `host:port` | – |  |"));
}

TEST(ConfigDescription, DefaultsOfLocksAreThoseThatTheyDeclare) {
  EXPECT_THAT(rowOf("lock.lockables.announcement-pins.wait_ms"),
              HasSubstr("| milliseconds | 5000 | 0 … 86400000 |"));
  EXPECT_THAT(rowOf("lock.lockables.announcement-pins.fail_fast"), HasSubstr("| `false` |  |"));
  EXPECT_THAT(rowOf("lock.lockables.seats.fail_fast"), HasSubstr("| `true` |  |"));
  EXPECT_THAT(rowOf("lock.lockables.coupons.lease_ms"), HasSubstr("| milliseconds | 3000 |"));
}

}  // namespace festa::test
