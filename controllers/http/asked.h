// What a request asks for, before it is known to be valid: in its path, its query, its headers and
// its body.
#pragma once

#include "controllers/http/request_context.h"
#include "lock/lockable.h"
#include "services/error.h"

#include <json/json.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace festa {

// One value by its place and its name there, as the OpenAPI document calls them.
struct Parameter {
  const char* place;
  std::string name;
};
inline Parameter inPath(std::string name) {
  return {"path", std::move(name)};
}
inline Parameter inQuery(std::string name) {
  return {"query", std::move(name)};
}
inline Parameter inHeader(std::string name) {
  return {"header", std::move(name)};
}

// 400 INVALID_PARAMETER. Its answer names the parameter and says what is wrong, e.g. "must be on or
// off"; it never repeats the value.
ServiceError invalidParameter(const Parameter& parameter, std::string ko, std::string en);

// A whole number in decimal digits and nothing else. Throws invalidParameter().
std::int64_t parseNumber(const std::string& text, const Parameter& parameter, std::int64_t least,
                         std::int64_t most);

// A positive 64-bit number in decimal digits and nothing else: no sign, no leading zero, so that
// equal ids are equal texts in lock keys. Throws invalidParameter().
std::int64_t parseId(const std::string& text, const Parameter& parameter);

// Text that PostgreSQL can compare with what it stores, possibly empty. Throws invalidParameter().
std::string parseText(const std::string& text, const Parameter& parameter,
                      std::size_t maxCharacters);

// What a route's parse function reads, and a lock's key is rendered from. Lives in the frame of the
// request's pipeline.
class Asked : public lock::KeyVariables {
 public:
  // Reads the body of a route that takes one. Throws ServiceError.
  Asked(const drogon::HttpRequestPtr& asking, const RequestContext& known);

  const drogon::HttpRequest& request() const { return *request_; }
  const Json::Value& body() const { return body_; }  // null: the route takes none
  const Caller& caller() const { return *context_.caller; }
  // A raw segment of the path by its name in the route, which has it.
  const std::string& path(const std::string& name) const {
    return context_.match.parameters.at(name);
  }

  std::int64_t pathId(const std::string& name) const { return parseId(path(name), inPath(name)); }

  // `path.<name>`, `token.<claim>` or `body.<field>`.
  std::optional<std::string> variable(std::string_view name) const override;

 private:
  const drogon::HttpRequestPtr& request_;
  const RequestContext& context_;
  const Json::Value body_;
};

// Which festival a read means: its header `festival: <id>` says it. Throws
// ServiceError(kInvalidParameter) when it is missing or not an id.
inline std::int64_t festivalIdIn(const Asked& asked) {
  return parseId(asked.request().getHeader("festival"), inHeader("festival"));
}

// Which festival a write means: that of its caller, who is a council or an admin.
inline std::int64_t festivalOf(const Caller& council) {
  return *council.festivalId;
}

}  // namespace festa
