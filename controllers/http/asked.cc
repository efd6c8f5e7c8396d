#include "controllers/http/asked.h"

#include "controllers/json/json_body.h"

namespace festa {

namespace {

std::optional<std::string> tokenVariable(const Caller& caller, std::string_view claim) {
  if (claim == "uid") return std::to_string(caller.uid);
  if (claim == "festivalId" && caller.festivalId) return std::to_string(*caller.festivalId);
  return std::nullopt;
}

std::optional<std::string> bodyVariable(const Json::Value& body, std::string_view field) {
  if (!body.isObject()) return std::nullopt;
  const auto& value = body[std::string(field)];
  if (value.isString() || value.isIntegral()) return value.asString();
  return std::nullopt;
}

Json::Value bodyOf(const drogon::HttpRequest& request, const RouteSpec& head) {
  if (!head.takesBody) return {};
  return head.takesList ? parseAnyJsonBody(request, head.maxBodyMembers)
                        : parseJsonBody(request, head.maxBodyMembers);
}

}  // namespace

Asked::Asked(const drogon::HttpRequestPtr& asking, const RequestContext& known)
    : request_(asking), context_(known), body_(bodyOf(*asking, known.match.route->spec())) {}

std::optional<std::string> Asked::variable(std::string_view name) const {
  const auto dot = name.find('.');
  const auto source = name.substr(0, dot);
  const auto key = name.substr(dot + 1);
  const auto& caller = context_.caller;
  if (source == "token") return caller ? tokenVariable(*caller, key) : std::nullopt;
  if (source == "body") return bodyVariable(body_, key);
  const auto& parameters = context_.match.parameters;
  const auto found = parameters.find(std::string(key));
  return found != parameters.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace festa
