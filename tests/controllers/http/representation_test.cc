#include "controllers/http/representation.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

bool asksForHtml(const std::string& accept) {
  const auto request = drogon::HttpRequest::newHttpRequest();
  if (!accept.empty()) request->addHeader("Accept", accept);
  return wantsHtml(*request);
}

}  // namespace

TEST(Preference, ANameHasItsWeight) {
  EXPECT_EQ(weightOf("text/html, */*;q=0.8", "text/html"), 1.0);
  EXPECT_EQ(weightOf("text/html, */*;q=0.8", "*/*"), 0.8);
  EXPECT_EQ(weightOf("Text/HTML ; q=0.5", "text/html"), 0.5);
  EXPECT_EQ(weightOf("text/html;level=1;q=0.4", "text/html"), 0.4);
  EXPECT_EQ(weightOf("text/html", "application/json"), 0.0);
  EXPECT_EQ(weightOf("", "text/html"), 0.0);
}

TEST(Preference, ALanguageStandsForItsVariants) {
  EXPECT_EQ(weightOf("en-GB;q=0.9, ko", "en"), 0.9);
  EXPECT_EQ(weightOf("eng", "en"), 0.0);
}

TEST(Preference, BrowsersWantHtml) {
  for (const auto* accept :
       {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "text/html",
        "text/html, */*", "application/json;q=0.5, text/html"})
    EXPECT_TRUE(asksForHtml(accept)) << accept;
}

TEST(Preference, ClientsOfTheApiDoNot) {
  for (const auto* accept : {"", "*/*", "application/json", "application/problem+json", "text/*",
                             "application/json, text/html", "application/json, text/html;q=0.9",
                             "text/html;q=0.5, */*", "text/html;q=0", "image/png, */*;q=0.5",
                             "application/*, text/html", "text/event-stream", ",;q=", "junk"})
    EXPECT_FALSE(asksForHtml(accept)) << accept;
}

TEST(ContentEncoding, TheBestThatIsNamedIsChosen) {
  for (const auto* header : {"br", "gzip, br", "gzip, deflate, br;q=0.1", "BR", " br ; q=1 ,gzip"})
    EXPECT_EQ(bestEncoding(header), ContentEncoding::kBrotli) << header;
  for (const auto* header : {"gzip", "deflate, gzip;q=0.5", "gzip, br;q=0", "br;q=0.000,gzip"})
    EXPECT_EQ(bestEncoding(header), ContentEncoding::kGzip) << header;
}

TEST(ContentEncoding, WhatIsNotNamedIsNotUsed) {
  for (const auto* header :
       {"", "identity", "*", "deflate", "zstd", "gzip;q=0", "brotli", ",,;", "q=1"})
    EXPECT_EQ(bestEncoding(header), ContentEncoding::kIdentity) << header;
}

TEST(Etag, IsStrongQuotedAndDependsOnEveryByte) {
  const auto tag = etagOf("[1,2,3]");
  EXPECT_EQ(tag.size(), 34U);
  EXPECT_EQ(tag.front(), '"');
  EXPECT_EQ(tag.back(), '"');
  EXPECT_EQ(tag, etagOf("[1,2,3]"));
  EXPECT_NE(tag, etagOf("[1,2,4]"));
  EXPECT_NE(tag, etagOf(""));
}

TEST(Etag, HeadersThatNameIt) {
  for (const auto* header : {R"("a")", R"(W/"a")", R"("b","a")", R"("b", W/"a")", R"( "a" )", "*",
                             R"("x,y", "a")", R"(,, "a")", R"("","a")"})
    EXPECT_TRUE(namesEtag(header, R"("a")")) << header;
}

TEST(Etag, HeadersThatDoNot) {
  for (const auto* header : {"", " ", ",", "a", R"("b")", R"("A")", R"("a)", R"(a")", R"(w/"a")",
                             R"("*")", R"(junk "a")", R"("b,"a",")", R"("aa")", "W/", R"(")"})
    EXPECT_FALSE(namesEtag(header, R"("a")")) << header;
}

}  // namespace festa::test
