#include "controllers/http/route_table.h"

#include "tests/support/http/silent_route.h"

#include <gtest/gtest.h>

namespace festa::test {

using Result = RouteTable::Result;
using Parameters = RouteTable::Parameters;

namespace {

RouteTable makeAnnouncements() {
  RouteTable table;
  table.add(silentRoute(drogon::Get, "/announcements"));
  table.add(silentRoute(drogon::Post, "/announcements"));
  table.add(silentRoute(drogon::Patch, "/announcements/{id}"));
  table.add(silentRoute(drogon::Delete, "/announcements/{id}"));
  table.add(silentRoute(drogon::Post, "/festivals/{festivalId}/announcements/{id}"));
  return table;
}

const RouteTable& announcements() {
  static const RouteTable table = makeAnnouncements();
  return table;
}

}  // namespace

TEST(RouteTable, FindsALiteralPathWithEachOfItsMethods) {
  for (const auto* method : {"GET", "POST"}) {
    const auto match = announcements().match(method, "/announcements");
    EXPECT_EQ(match.result, Result::kFound) << method;
    EXPECT_EQ(match.route->spec().path, "/announcements");
    EXPECT_TRUE(match.parameters.empty());
  }
}

TEST(RouteTable, GivesThePathParametersByName) {
  const auto one = announcements().match("PATCH", "/announcements/42");
  EXPECT_EQ(one.result, Result::kFound);
  EXPECT_EQ(one.route->spec().path, "/announcements/{id}");
  EXPECT_EQ(one.parameters, (Parameters{{"id", "42"}}));
  const auto two = announcements().match("POST", "/festivals/7/announcements/42");
  EXPECT_EQ(two.result, Result::kFound);
  EXPECT_EQ(two.parameters, (Parameters{{"festivalId", "7"}, {"id", "42"}}));
}

TEST(RouteTable, AParameterTakesAnySegmentAsItIs) {
  const auto match = announcements().match("PATCH", "/announcements/{id} %2F:가");
  EXPECT_EQ(match.parameters, (Parameters{{"id", "{id} %2F:가"}}));
}

TEST(RouteTable, AnEndpointCanBePutInFrontOfAnother) {
  auto table = makeAnnouncements();
  const auto* const before = table.match("DELETE", "/announcements/1").route;
  auto& place = table.at(drogon::Delete, "/announcements/{id}");
  EXPECT_EQ(place.get(), before);
  place = silentRoute(drogon::Delete, "/announcements/{id}");
  EXPECT_EQ(table.match("DELETE", "/announcements/1").route, place.get());
  EXPECT_THROW(table.at(drogon::Get, "/announcements/{id}"), std::logic_error);
}

TEST(RouteTable, SaysWhichMethodsAPathHas) {
  const auto literal = announcements().match("DELETE", "/announcements");
  EXPECT_EQ(literal.result, Result::kMethodNotAllowed);
  EXPECT_EQ(literal.allow, "GET, POST");
  EXPECT_EQ(literal.route->spec().path, "/announcements");
  const auto parameterised = announcements().match("GET", "/announcements/42");
  EXPECT_EQ(parameterised.result, Result::kMethodNotAllowed);
  EXPECT_EQ(parameterised.allow, "PATCH, DELETE");
}

TEST(RouteTable, MethodsAreComparedExactly) {
  EXPECT_EQ(announcements().match("get", "/announcements").result, Result::kMethodNotAllowed);
  EXPECT_EQ(announcements().match("", "/announcements").result, Result::kMethodNotAllowed);
}

TEST(RouteTable, UnknownPathsAreNotFound) {
  for (const auto* path :
       {"/", "", "/announcement", "/announcements/1/2", "//announcements", "/Announcements",
        "/announcements?x", "/festivals/7/announcements", "/festivals/7/notices/1"}) {
    const auto match = announcements().match("GET", path);
    EXPECT_EQ(match.result, Result::kNotFound) << path;
    EXPECT_EQ(match.route, nullptr) << path;
    EXPECT_EQ(match.allow, "") << path;
    EXPECT_TRUE(match.parameters.empty()) << path;
  }
}

TEST(RouteTable, ATrailingSlashIsNotTheSamePath) {
  EXPECT_NE(announcements().match("GET", "/announcements/").result, Result::kFound);
}

TEST(RouteTable, AMethodOnALaterPatternThatFitsIsFound) {
  RouteTable table;
  table.add(silentRoute(drogon::Get, "/announcements/{id}"));
  table.add(silentRoute(drogon::Post, "/announcements/search"));
  const auto match = table.match("POST", "/announcements/search");
  EXPECT_EQ(match.result, Result::kFound);
  EXPECT_EQ(match.route->spec().path, "/announcements/search");
  EXPECT_TRUE(match.parameters.empty());
  EXPECT_EQ(table.match("GET", "/announcements/search").route->spec().path, "/announcements/{id}");
}

TEST(RouteTable, TheRootHasARouteOfItsOwn) {
  RouteTable table;
  table.add(silentRoute(drogon::Get, "/"));
  EXPECT_EQ(table.match("GET", "/").result, Result::kFound);
  EXPECT_EQ(table.match("GET", "/x").result, Result::kNotFound);
}

TEST(RouteTable, AnEmptyTableFindsNothing) {
  EXPECT_EQ(RouteTable().match("GET", "/").result, Result::kNotFound);
}

TEST(RouteTable, AllowNamesTheMethodsOfEveryPatternThatFits) {
  RouteTable table;
  table.add(silentRoute(drogon::Get, "/a/{id}"));
  table.add(silentRoute(drogon::Post, "/a/me"));
  EXPECT_EQ(table.match("DELETE", "/a/me").allow, "GET, POST");
}

TEST(RouteTable, AnEmptySegmentIsNoParameter) {
  RouteTable table;
  table.add(silentRoute(drogon::Get, "/a/{id}"));
  EXPECT_EQ(table.match("GET", "/a/").result, Result::kNotFound);
}

TEST(RouteTable, ListsEveryMethodOfEveryPath) {
  std::vector<std::string> all;
  for (const auto* route : announcements().all())
    all.push_back(methodName(route->spec().method) + ' ' + route->spec().path);
  EXPECT_EQ(all,
            (std::vector<std::string>{"GET /announcements", "POST /announcements",
                                      "PATCH /announcements/{id}", "DELETE /announcements/{id}",
                                      "POST /festivals/{festivalId}/announcements/{id}"}));
}

}  // namespace festa::test
