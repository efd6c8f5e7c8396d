#include "app/strategies/strategy_description.h"

#include "app/config/config.h"
#include "app/strategies/strategies.h"
#include "controllers/json/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace festa::test {

using testing::HasSubstr;

namespace {

std::string fileOf(const std::string& path) {
  std::ifstream file(FESTA_SOURCE_FOLDER "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string lineOf(const std::string& name) {
  std::istringstream text(describeStrategies());
  for (std::string line; std::getline(text, line);)
    if (line.find("`" + name + "`") < 6) return line;
  return "";
}

Json::Value table() {
  return parseJsonObject("{\"rows\":" + strategiesAsJson() + "}")["rows"];
}

Json::Value objectOf(const std::string& name) {
  for (const auto& row : table())
    if (row["name"] == name) return row;
  return {};
}

}  // namespace

TEST(StrategyDescription, IsTheDocumentInTheRepository) {
  EXPECT_TRUE(fileOf("docs/strategies.md") == describeStrategies())
      << "docs/strategies.md is not what the table of strategies says. Write it again with "
         "'./dev docs' (.build/release/festabook strategies > docs/strategies.md).";
}

TEST(StrategyDescription, EveryStrategyHasALineAndAnObject) {
  ASSERT_EQ(table().size(), strategyTable().size());
  for (Json::ArrayIndex i = 0; i < table().size(); ++i) {
    const auto& row = strategyTable()[i];
    EXPECT_EQ(table()[i]["name"].asString(), row.name);
    EXPECT_THAT(lineOf(row.name), HasSubstr("| " + row.what + " |")) << row.name;
    EXPECT_THAT(lineOf(row.name), HasSubstr("| " + row.use + " |")) << row.name;
  }
}

TEST(StrategyDescription, DefaultsAndDocumentsNameTheRecommendedStrategies) {
  const auto& one = recommendedStrategy(false).name;
  const auto& several = recommendedStrategy(true).name;
  EXPECT_EQ(Config{}.lock.strategy, one);
  EXPECT_THAT(fileOf("docker/docker-compose.yml"),
              HasSubstr("${FESTABOOK_LOCK_STRATEGY:-" + several + "}"));
  EXPECT_THAT(
      fileOf("docs/guarantees.md"),
      HasSubstr("Start with `" + one + "` on one instance and with `" + several + "` on several."));
}

TEST(StrategyDescription, TextsFitATable) {
  for (const auto& row : strategyTable())
    for (const auto& text : {row.what, row.use}) {
      EXPECT_FALSE(text.empty()) << row.name;
      EXPECT_EQ(text.find_first_of("|\n"), std::string::npos) << row.name;
    }
}

TEST(StrategyDescription, ALineSaysNeedsScopeAndOrder) {
  EXPECT_THAT(lineOf("redis-fair"),
              HasSubstr("| one Redis (`redis.host`) | all processes | overall |"));
  EXPECT_THAT(lineOf("memory"), HasSubstr("| – | one process | within a process |"));
  EXPECT_THAT(lineOf("none"), HasSubstr("| – | none; lab only | – |"));
  EXPECT_THAT(lineOf(recommendedStrategy(true).name), HasSubstr("**"));
}

TEST(StrategyDescription, AnObjectSaysWhatProgramsAskFor) {
  const auto redlock = objectOf("redlock");
  EXPECT_EQ(redlock["kind"].asString(), "lock");
  EXPECT_EQ(redlock["needs"].asString(), "redlock");
  EXPECT_EQ(redlock["scope"].asString(), "processes");
  EXPECT_EQ(redlock["order"].asString(), "none");
  EXPECT_FALSE(redlock["lab_only"].asBool());
  EXPECT_FALSE(redlock["recommended"].asBool());
  EXPECT_EQ(objectOf("memory")["scope"].asString(), "process");
  EXPECT_TRUE(objectOf("memory")["needs"].isNull());
  EXPECT_TRUE(objectOf("memory")["recommended"].asBool());
  EXPECT_EQ(objectOf("pg-row")["kind"].asString(), "guard");
  EXPECT_EQ(objectOf("queue-rabbitmq")["kind"].asString(), "queue");
  EXPECT_EQ(objectOf("queue-rabbitmq")["needs"].asString(), "rabbitmq");
  EXPECT_EQ(objectOf("none")["kind"].asString(), "none");
  EXPECT_TRUE(objectOf("none")["lab_only"].asBool());
  EXPECT_FALSE(objectOf("none")["refuses_stale_updates"].asBool());
  EXPECT_TRUE(objectOf("pg-repeatable-read")["refuses_stale_updates"].asBool());
}

}  // namespace festa::test
