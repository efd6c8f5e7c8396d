#include "controllers/http/preference.h"

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

}  // namespace festa::test
