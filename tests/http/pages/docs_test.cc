// The OpenAPI document. What it says is compared with real answers by tests/dev/openapi_test.py;
// the page that shows it is one of the pages, see pages_test.cc.
#include "app/strategies/strategies.h"
#include "app/version.h"
#include "tests/http/api_test.h"

namespace festa::test {

namespace {

class DocsTest : public ApiTest {};

}  // namespace

TEST_F(DocsTest, TheDocumentIsOpenApi31) {
  const auto response = client.get("/openapi.json");
  EXPECT_EQ(response.header("content-type"), "application/json; charset=utf-8");
  const auto document = response.json();
  EXPECT_EQ(document["openapi"].asString(), "3.1.0");
  EXPECT_TRUE(document["paths"]["/announcements/{id}/pin"]["patch"].isObject());
}

TEST_F(DocsTest, TheDocumentHasTheVersionOfTheProgram) {
  const auto document = client.get("/openapi.json").json();
  EXPECT_EQ(document["info"]["version"].asString(), std::string(version()));
  EXPECT_THAT(document["info"]["version"].asString(),
              testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
}

TEST_F(DocsTest, TheDocumentKnowsEveryStrategyAndNoOther) {
  std::vector<std::string> ours;
  for (const auto& row : strategyTable()) ours.push_back(row.name);
  std::vector<std::string> described;
  const auto document = client.get("/openapi.json").json();
  for (const auto& name : document["components"]["parameters"]["Concurrency"]["schema"]["enum"])
    described.push_back(name.asString());
  EXPECT_EQ(described, ours);
}

TEST_F(DocsTest, AClientThatHasTheNewestVersionGets304) {
  const auto first = client.get("/openapi.json");
  EXPECT_EQ(first.header("cache-control"), "no-cache");
  const auto again = client.get("/openapi.json", {{"If-None-Match", first.header("etag")}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(again.header("etag"), first.header("etag"));
  EXPECT_EQ(client.get("/openapi.json", {{"If-None-Match", "\"other\""}}).body, first.body);
}

TEST_F(DocsTest, NothingThatTheDocumentSaysReachesThePageAsMarkup) {
  const auto page = client.get("/docs").body;
  const auto at = page.find("/assets/");
  const auto folder = page.substr(at, page.find('/', at + 8) - at);
  for (const auto* script : {"/docs.mjs", "/schemas.mjs"}) {
    const auto text = client.get(folder + script).body;
    ASSERT_FALSE(text.empty()) << script;
    for (const auto* forbidden : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                                  "eval(", "localStorage", "sessionStorage", "https://"})
      EXPECT_EQ(text.find(forbidden), std::string::npos) << script << ' ' << forbidden;
  }
}

}  // namespace festa::test
