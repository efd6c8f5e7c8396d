// What a request asks for, before it is known to be valid.
#pragma once

#include "controllers/http/parameter.h"
#include "controllers/http/request_context.h"
#include "lock/lockable.h"

#include <json/json.h>

#include <optional>
#include <string>
#include <string_view>

namespace festa {

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
    return context_.route.parameters.at(name);
  }

  std::int64_t pathId(const std::string& name) const { return parseId(path(name), inPath(name)); }

  // `path.<name>`, `token.<claim>` or `body.<field>`.
  std::optional<std::string> variable(std::string_view name) const override;

 private:
  const drogon::HttpRequestPtr& request_;
  const RequestContext& context_;
  const Json::Value body_;
};

}  // namespace festa
