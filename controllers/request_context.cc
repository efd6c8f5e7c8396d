#include "controllers/request_context.h"

#include "services/error.h"

#include <charconv>

namespace festa {

namespace {

const std::string kAttribute = "festa.context";

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

}  // namespace

std::optional<std::string> RequestContext::variable(std::string_view name) const {
  const auto dot = name.find('.');
  const auto source = name.substr(0, dot);
  const auto key = name.substr(dot + 1);
  if (source == "token") return caller ? tokenVariable(*caller, key) : std::nullopt;
  if (source == "body") return bodyVariable(body, key);
  const auto found = route.parameters.find(std::string(key));
  return found != route.parameters.end() ? std::optional(found->second) : std::nullopt;
}

void attachContext(const drogon::HttpRequestPtr& request, std::shared_ptr<RequestContext> context) {
  request->attributes()->insert(kAttribute, std::move(context));
}

RequestContext& contextOf(const drogon::HttpRequestPtr& request) {
  return *request->attributes()->get<std::shared_ptr<RequestContext>>(kAttribute);
}

std::int64_t parseId(const std::string& text, const std::string& what) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id <= 0 || text.front() == '0')
    throw ServiceError(ErrorCode::kInvalidParameter, what + " is not a positive 64-bit number");
  return id;
}

}  // namespace festa
