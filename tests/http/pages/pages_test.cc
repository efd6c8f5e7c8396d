// The pages as they are sent. What they do is tested in a browser, tests/browser.
#include "tests/http/api_test.h"
#include "tests/support/servers/pg_server.h"

#include <regex>

namespace festa::test {

namespace {

const std::vector<std::string> kPages{"/", "/seats/1", "/council", "/lab", "/operator", "/docs"};

// What a browser sends when a person follows a link.
const Headers kBrowser{
    {"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}};

class PagesTest : public ApiTest {
 protected:
  static void expectMissing(const Response& page) {
    EXPECT_EQ(page.status, 404) << page.body;
    EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.header("content-security-policy"),
              service->client().get("/").header("content-security-policy"));
    EXPECT_EQ(page.header("cache-control"), "no-store");
    EXPECT_EQ(page.header("etag"), "");
    EXPECT_THAT(page.header("vary"), testing::HasSubstr("Accept,"));
    EXPECT_THAT(page.body, testing::HasSubstr("/missing.mjs"));
  }
  std::vector<std::string> assetsOf(const std::string& page) {
    static const std::regex kReference(R"re((?:src|href)="(/assets/[^"]*)")re");
    std::vector<std::string> all;
    for (std::sregex_iterator it(page.begin(), page.end(), kReference), end; it != end; ++it)
      all.push_back((*it)[1]);
    return all;
  }
  // Everything that the pages load, with what it loads.
  std::set<std::string> allAssets(const std::vector<std::string>& pages = kPages) {
    static const std::regex kImport(R"re(from "\./([a-z_]+\.mjs)")re");
    std::vector<std::string> open;
    for (const auto& page : pages)
      for (const auto& asset : assetsOf(client.get(page).body)) open.push_back(asset);
    std::set<std::string> all;
    while (!open.empty()) {
      const auto path = open.back();
      open.pop_back();
      if (!all.insert(path).second) continue;
      const auto text = client.get(path).body;
      for (std::sregex_iterator it(text.begin(), text.end(), kImport), end; it != end; ++it)
        open.push_back(path.substr(0, path.rfind('/') + 1) + (*it)[1].str());
    }
    return all;
  }
};

}  // namespace

TEST_F(PagesTest, EveryPageIsServedToAnyoneUnderAStrictPolicy) {
  for (const auto& path : kPages) {
    const auto page = client.get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8") << path;
    EXPECT_EQ(page.header("cache-control"), "no-cache") << path;
    EXPECT_THAT(page.header("content-security-policy"), testing::StartsWith("default-src 'self'"));
    EXPECT_THAT(page.header("content-security-policy"), testing::Not(testing::HasSubstr("unsafe")));
    EXPECT_EQ(client.get(path, {{"If-None-Match", page.header("etag")}}).status, 304) << path;
    for (const auto* left : {"{{", "<style", " style=", "onclick", "http://", "https://"})
      EXPECT_EQ(page.body.find(left), std::string::npos) << path << " has " << left;
  }
}

TEST_F(PagesTest, WhatAPageLoadsIsThereAndMayBeKeptForEver) {
  auto assets = allAssets();
  for (const auto& asset : assetsOf(client.get("/nowhere", kBrowser).body)) assets.insert(asset);
  EXPECT_GE(assets.size(), 6U);
  for (const auto& path : assets) {
    const auto asset = client.get(path);
    EXPECT_EQ(asset.status, 200) << path;
    EXPECT_EQ(asset.header("cache-control"), "public, max-age=31536000, immutable") << path;
    EXPECT_EQ(asset.header("vary"), "Accept-Encoding") << path;
    for (const auto* forbidden :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://"})
      EXPECT_EQ(asset.body.find(forbidden), std::string::npos) << path << " has " << forbidden;
  }
}

TEST_F(PagesTest, APageNamesEveryModuleThatItImports) {
  for (const auto& path : kPages) {
    const auto named = assetsOf(client.get(path).body);
    EXPECT_EQ(std::set<std::string>(named.begin(), named.end()), allAssets({path})) << path;
    EXPECT_EQ(named.size(), allAssets({path}).size()) << path << " names one twice";
  }
}

TEST_F(PagesTest, AnAssetOfAnotherVersionIsOursAndNotKept) {
  const auto ours = client.get(assetsOf(client.get("/").body).at(0));
  const auto other = client.get("/assets/0123456789ab/icon.svg");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.header("cache-control"), "no-cache");
  EXPECT_EQ(other.body, ours.body);
}

TEST_F(PagesTest, WhatIsNoAssetIsNotFound) {
  for (const auto* path : {"/assets/x/nothing.mjs", "/assets/x/page.html", "/assets/x/..",
                           "/assets/x/%2e%2e", "/assets/x/icon.svg/"})
    expectProblem(client.get(path), 404, "ROUTE_NOT_FOUND");
}

TEST_F(PagesTest, PeopleGetAPageForAnAddressAtWhichThereIsNothing) {
  for (const auto* path : {"/nowhere", "/seats", "/seats/1/more", "/assets/x/nothing.mjs"}) {
    SCOPED_TRACE(path);
    const auto page = client.get(path, kBrowser);
    expectMissing(page);
    EXPECT_EQ(page.body, client.get("/elsewhere", kBrowser).body) << "nothing of the path is in it";
  }
  const auto compressed =
      client.get("/nowhere", {{"Accept", "text/html"}, {"Accept-Encoding", "br"}});
  EXPECT_EQ(compressed.status, 404);
  EXPECT_EQ(compressed.header("content-encoding"), "br");
  const auto head = client.request("HEAD", "/nowhere", kBrowser);
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.header("content-type"), "text/html; charset=utf-8");
}

TEST_F(PagesTest, ClientsOfTheApiGetAProblemThere) {
  for (const auto* accept : {"*/*", "application/json", "application/json, text/html"})
    expectProblem(client.get("/nowhere", {{"Accept", accept}}), 404, "ROUTE_NOT_FOUND");
  expectProblem(client.get("/nowhere"), 404, "ROUTE_NOT_FOUND");
  expectProblem(client.request("POST", "/nowhere", kBrowser), 404, "ROUTE_NOT_FOUND");
  expectProblem(client.get("/api/nowhere", kBrowser), 404, "ROUTE_NOT_FOUND");
}

TEST_F(PagesTest, ThereIsNoHallOfAPerformanceThatDoesNotExist) {
  for (const auto* path : {"/seats/999999", "/seats/x", "/seats/0", "/seats/01", "/seats/%00"}) {
    SCOPED_TRACE(path);
    expectMissing(client.get(path, kBrowser));
    expectMissing(client.get(path));
  }
}

TEST_F(PagesTest, TheHallIsShownWhileTheDatabaseIsAway) {
  PgServer pg;
  const Service shop(pg.createDatabase());
  expectMissing(shop.client().get("/seats/999999"));
  pg.kill();
  // The page tells people itself, whatever they ask for.
  for (const auto* path : {"/seats/1", "/seats/999999"}) {
    const auto page = shop.client().get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_THAT(page.body, testing::HasSubstr("/seats.mjs"));
  }
}

TEST_F(PagesTest, TextIsCompressedForThoseWhoTakeIt) {
  std::size_t plain = 0;
  std::size_t compressed = 0;
  for (const auto& path : allAssets()) {
    const auto whole = client.get(path);
    const auto gzip = client.get(path, {{"Accept-Encoding", "gzip, deflate"}});
    const auto brotli = client.get(path, {{"Accept-Encoding", "gzip, deflate, br"}});
    EXPECT_EQ(whole.header("content-encoding"), "") << path;
    EXPECT_EQ(gzip.header("content-encoding"), "gzip") << path;
    EXPECT_EQ(brotli.header("content-encoding"), "br") << path;
    EXPECT_EQ(
        (std::set<std::string>{whole.header("etag"), gzip.header("etag"), brotli.header("etag")}
             .size()),
        3U)
        << path;
    plain += whole.body.size();
    compressed += gzip.body.size();
  }
  EXPECT_LT(compressed, plain / 2);
  EXPECT_LT(compressed, 150'000U) << "all pages together";
}

TEST_F(PagesTest, APageKnowsTheModesOfItsInstance) {
  EXPECT_THAT(client.get("/").body, testing::HasSubstr("data-modes=\"demo\""));
  const Service lab(sharedPg().createDatabase(), {{"LAB", "true"}});
  EXPECT_THAT(lab.client().get("/").body, testing::HasSubstr("data-modes=\"demo lab\""));
}

}  // namespace festa::test
