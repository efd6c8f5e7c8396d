// Requests that get a problem, and what it says.
#pragma once

#include "controllers/errors/problem.h"
#include "controllers/json/json_body.h"

#include <string>
#include <vector>

namespace festa::test {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

inline constexpr auto kLastCode = static_cast<int>(ErrorCode::kCommitUnconfirmed);

inline std::vector<ErrorCode> allCodes() {
  std::vector<ErrorCode> codes;
  for (int code = 0; code <= kLastCode; ++code) codes.push_back(static_cast<ErrorCode>(code));
  return codes;
}

inline HttpRequestPtr request(const std::string& languages = {}) {
  auto request = drogon::HttpRequest::newHttpRequest();
  request->setMethod(drogon::Post);
  request->setPath("/announcements/7");
  if (!languages.empty()) request->addHeader("Accept-Language", languages);
  return request;
}

inline Json::Value bodyOf(const HttpResponsePtr& response) {
  return parseJsonObject(response->body());
}

inline std::string detail(ErrorCode code, const std::string& languages = {}) {
  return bodyOf(problem(request(languages), ServiceError(code)))["detail"].asString();
}

inline int statusOf(const HttpResponsePtr& response) {
  return static_cast<int>(response->statusCode());
}

}  // namespace festa::test
