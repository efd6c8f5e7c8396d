// What the suites of this folder share: one service per suite, one festival per test.
#pragma once

#include "controllers/json/utf8.h"
#include "services/accounts/token_service.h"
#include "tests/support/servers/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace festa::test {

inline std::set<std::string> namesIn(const Json::Value& object) {
  const auto names = object.getMemberNames();
  return {names.begin(), names.end()};
}

// Fields that a validation problem complains about.
inline std::set<std::string> rejectedFields(const Response& response) {
  std::set<std::string> fields;
  const auto problem = response.json();
  for (const auto& error : problem["errors"]) fields.insert(error["field"].asString());
  return fields;
}

inline std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// Users, performances and reservations tell the result in an envelope.
inline bool hasEnvelope(const std::string& path) {
  const auto first = path.substr(0, path.find('/', 1));
  return std::set<std::string>{"/users", "/performance", "/performances", "/customer", "/business"}
      .contains(first);
}

inline void expectFailedMeta(const Json::Value& problem) {
  auto kebab = problem["code"].asString();
  for (auto& c : kebab) c = c == '_' ? '-' : static_cast<char>(std::tolower(c));
  const auto& meta = problem["meta"];
  EXPECT_EQ(namesIn(meta), (std::set<std::string>{"result", "errorCode", "errorMessage"}));
  EXPECT_EQ(meta["result"].asString(), "fail");
  EXPECT_EQ(meta["errorCode"].asString(), kebab);
  EXPECT_EQ(meta["errorMessage"], problem["message"]);
}

// A problem as the contract describes it, which tells nothing about our insides.
inline void expectProblem(const Response& response, int status, const std::string& code) {
  EXPECT_EQ(response.status, status) << response.body;
  EXPECT_THAT(response.header("content-type"), testing::StartsWith("application/problem+json"));
  EXPECT_FALSE(response.header("x-request-id").empty());
  EXPECT_TRUE(utf8Length(response.body)) << "the problem is not UTF-8";
  if (!response.header("content-type").starts_with("application/problem+json")) return;
  const auto json = response.json();
  EXPECT_EQ(json["code"].asString(), code) << response.body;
  EXPECT_EQ(json["status"].asInt(), status);
  EXPECT_FALSE(json["message"].asString().empty());
  EXPECT_EQ(json["detail"], json["message"]);
  EXPECT_FALSE(json["type"].asString().empty());
  EXPECT_FALSE(json["title"].asString().empty());
  auto names = namesIn(json);
  const bool namesFields = code == "VALIDATION_FAILED" || code == "INVALID_PARAMETER";
  EXPECT_EQ(names.erase("errors"), namesFields ? 1U : 0U) << response.body;
  // The envelope belongs to routes.
  const bool isEnveloped = code != "ROUTE_NOT_FOUND" && hasEnvelope(json["instance"].asString());
  EXPECT_EQ(names.erase("meta"), isEnveloped ? 1U : 0U);
  if (isEnveloped) expectFailedMeta(json);
  EXPECT_EQ(names, (std::set<std::string>{"type", "title", "status", "detail", "instance", "code",
                                          "message"}));
  for (const auto* inside : {"SQL", "xception", "std::", "SELECT", "INSERT", ".cc:", "drogon"})
    EXPECT_EQ(response.body.find(inside), std::string::npos)
        << inside << " leaks: " << response.body;
}

class ApiTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    service = std::make_unique<Service>(sharedPg().createDatabase(), patient());
  }
  static void TearDownTestSuite() { service.reset(); }

  ApiTest()
      : council(service->newFestival()),
        festival(service->lastFestival()),
        client(service->port()) {}

  // As the council of this test's festival.
  Response call(const std::string& method, const std::string& path, const std::string& body = "") {
    return body.empty() ? client.request(method, path, council)
                        : client.send(method, path, body, council);
  }
  Response asAdmin(const std::string& method, const std::string& path, const std::string& body) {
    return client.send(method, path, body, service->as("admin"));
  }
  static std::string secret() {
    return serviceEnvironment(service->database(), 1, {}).at("FESTA_AUTH_JWT_SECRET");
  }
  static Headers bearing(const std::string& token) {
    return {{"Authorization", "Bearer " + token}};
  }
  // A member of the audience: authenticated, but neither council nor admin.
  static Headers asUser() {
    return bearing(TokenService(secret(), std::chrono::hours(1))
                       .issue({"user1", 1, Realm::kUser, {}, {"ROLE_USER"}}));
  }
  static std::string inDatabase(const std::string& query,
                                const std::vector<std::string>& parameters = {}) {
    return PgSession(service->database()).query(query, parameters).at(0).at(0).value_or("(null)");
  }

  static inline std::unique_ptr<Service> service;
  const Headers council;
  const std::int64_t festival;
  HttpClient client;
};

}  // namespace festa::test
