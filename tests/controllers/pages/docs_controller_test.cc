#include "controllers/pages/docs_controller.h"

#include "controllers/errors/error_table.h"
#include "controllers/json/json_body.h"
#include "controllers/pages/embedded_files.h"
#include "tests/support/http/silent_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace festa::test {

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

RouteTable announcements() {
  RouteTable table;
  table.add(silentRoute(drogon::Get, "/announcements"));
  table.add(silentRoute(drogon::Post, "/announcements"));
  table.add(silentRoute(drogon::Patch, "/announcements/{id}"));
  return table;
}

const std::string kDocument = R"({"paths":{"/announcements":{"parameters":[],"get":{},"post":{}},)"
                              R"("/announcements/{id}":{"summary":"one","patch":{}}}})";

// The document with one text in place of another.
std::vector<std::string> gapsWith(const std::string& text, const std::string& other) {
  auto document = kDocument;
  document.replace(document.find(text), text.size(), other);
  return openApiGaps(announcements(), parseJsonObject(document));
}

Json::Value builtInDocument() {
  for (const auto& file : docsFiles())
    if (file.name == "openapi.json") return parseJsonObject(file.content);
  throw std::runtime_error("no openapi.json");
}

}  // namespace

TEST(OpenApiGaps, ThereAreNoneWhenBothSayTheSame) {
  EXPECT_THAT(openApiGaps(announcements(), parseJsonObject(kDocument)), IsEmpty());
}

TEST(OpenApiGaps, AMethodThatIsNotDescribedIsAGap) {
  EXPECT_THAT(gapsWith(R"("get":{},)", ""), ElementsAre("GET /announcements is not described"));
}

TEST(OpenApiGaps, APathThatIsNotDescribedIsAGap) {
  auto routes = announcements();
  routes.add(silentRoute(drogon::Get, "/festivals"));
  EXPECT_THAT(openApiGaps(routes, parseJsonObject(kDocument)),
              ElementsAre("GET /festivals is not described"));
}

TEST(OpenApiGaps, AnOperationWithoutARouteIsAGap) {
  EXPECT_THAT(gapsWith(R"("patch":{})", R"("patch":{},"delete":{})"),
              ElementsAre("DELETE /announcements/{id} is described but not served"));
}

TEST(OpenApiGaps, WhatIsMarkedForTheLabIsServedThereOnly) {
  auto document = kDocument;
  document.insert(document.find(R"("patch":{})"), R"("delete":{"x-lab":true},)");
  const auto parsed = parseJsonObject(document);
  EXPECT_THAT(openApiGaps(announcements(), parsed), IsEmpty());
  EXPECT_THAT(openApiGaps(announcements(), parsed, true),
              ElementsAre("DELETE /announcements/{id} is described but not served"));
  auto routes = announcements();
  routes.add(silentRoute(drogon::Delete, "/announcements/{id}"));
  EXPECT_THAT(openApiGaps(routes, parsed, true), IsEmpty());
  EXPECT_THAT(openApiGaps(routes, parsed),
              ElementsAre("DELETE /announcements/{id} is not described"));
}

TEST(OpenApiGaps, AParameterOfAnotherNameIsAnotherPath) {
  EXPECT_THAT(gapsWith("{id}", "{number}"),
              ElementsAre("PATCH /announcements/{id} is not described",
                          "PATCH /announcements/{number} is described but not served"));
}

TEST(OpenApiGaps, ADocumentWithoutPathsDescribesNothing) {
  EXPECT_EQ(openApiGaps(announcements(), parseJsonObject("{}")).size(), 3U);
}

TEST(OpenApiDocument, KnowsEveryErrorCodeAndNoOther) {
  std::set<std::string> ours;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kCommitUnconfirmed); ++code)
    ours.insert(nameOf(static_cast<ErrorCode>(code)));
  std::set<std::string> described;
  const auto document = builtInDocument();
  for (const auto& code :
       document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])
    described.insert(code.asString());
  EXPECT_EQ(described, ours);
}

}  // namespace festa::test
