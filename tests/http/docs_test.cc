// The OpenAPI document and its page. What the document says is compared with real answers by
// tests/dev/openapi_test.py.
#include "tests/http/api_test.h"

#include <regex>

namespace festa::test {

namespace {

class DocsTest : public ApiTest {
 protected:
  // What the page loads or links to, relative to /docs.
  std::vector<std::string> referencesOf(const std::string& page) {
    static const std::regex kReference(R"re((?:src|href)="([^"]*)")re");
    std::vector<std::string> all;
    for (std::sregex_iterator it(page.begin(), page.end(), kReference), end; it != end; ++it)
      all.push_back((*it)[1]);
    return all;
  }
};

const std::map<std::string, std::string> kContentTypes{
    {"/openapi.json", "application/json; charset=utf-8"},
    {"/docs", "text/html; charset=utf-8"},
    {"/docs/docs.js", "text/javascript; charset=utf-8"},
    {"/docs/docs.css", "text/css; charset=utf-8"}};

}  // namespace

TEST_F(DocsTest, TheDocumentIsOpenApi31) {
  const auto document = client.get("/openapi.json").json();
  EXPECT_EQ(document["openapi"].asString(), "3.1.0");
  EXPECT_TRUE(document["paths"]["/announcements/{id}/pin"]["patch"].isObject());
}

TEST_F(DocsTest, EachFileHasItsContentType) {
  for (const auto& [path, type] : kContentTypes) {
    const auto response = client.get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.header("content-type"), type) << path;
    EXPECT_EQ(response.header("x-content-type-options"), "nosniff") << path;
    EXPECT_FALSE(response.body.empty()) << path;
  }
}

TEST_F(DocsTest, AClientThatHasTheNewestVersionGetsItNotAgain) {
  for (const auto& [path, type] : kContentTypes) {
    const auto first = client.get(path);
    EXPECT_EQ(first.header("cache-control"), "no-cache") << path;
    const auto again = client.get(path, {{"If-None-Match", first.header("etag")}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_EQ(again.body, "") << path;
    EXPECT_EQ(again.header("etag"), first.header("etag")) << path;
    EXPECT_EQ(client.get(path, {{"If-None-Match", "\"other\""}}).body, first.body) << path;
  }
}

TEST_F(DocsTest, ThePageRefersToNothingButWhatWeServe) {
  const auto page = client.get("/docs");
  EXPECT_THAT(page.header("content-security-policy"), testing::StartsWith("default-src 'self'"));
  const auto references = referencesOf(page.body);
  EXPECT_THAT(references, testing::IsSupersetOf({"docs/docs.js", "docs/docs.css", "openapi.json"}));
  for (const auto& reference : references)
    EXPECT_EQ(client.get('/' + reference).status, 200) << reference;
}

TEST_F(DocsTest, ThePageNeedsNothingThatItsPolicyForbids) {
  const auto page = client.get("/docs").body;
  const auto script = client.get("/docs/docs.js").body;
  for (const auto* forbidden : {"<style", "style=", "onclick", "http://", "https://"})
    EXPECT_EQ(page.find(forbidden), std::string::npos) << forbidden;
  EXPECT_EQ(page.find("<script>"), std::string::npos);
  for (const auto* forbidden : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                                "eval(", "localStorage", "sessionStorage", "https://"})
    EXPECT_EQ(script.find(forbidden), std::string::npos) << forbidden;
}

}  // namespace festa::test
