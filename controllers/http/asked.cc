#include "controllers/http/asked.h"

#include "controllers/json/json_body.h"
#include "controllers/json/utf8.h"

#include <charconv>

namespace festa {

namespace {

std::optional<std::int64_t> numberIn(const std::string& text) {
  std::int64_t number = 0;
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

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

ServiceError invalidParameter(const Parameter& parameter, std::string ko, std::string en) {
  return {ErrorCode::kInvalidParameter,
          {parameter.name, std::move(ko), std::move(en), parameter.place}};
}

std::int64_t parseNumber(const std::string& text, const Parameter& parameter, std::int64_t least,
                         std::int64_t most) {
  const auto number = numberIn(text);
  if (number && *number >= least && *number <= most) return *number;
  const auto from = std::to_string(least);
  const auto to = std::to_string(most);
  throw invalidParameter(parameter, from + " 이상 " + to + " 이하의 정수여야 합니다.",
                         "must be a whole number from " + from + " to " + to);
}

std::int64_t parseId(const std::string& text, const Parameter& parameter) {
  if (text.empty())
    throw invalidParameter(parameter, "값이 없습니다. 양의 정수가 필요합니다.",
                           "is missing; it must be a positive whole number");
  const auto id = numberIn(text);
  if (!id || *id <= 0 || text.front() == '0')
    throw invalidParameter(
        parameter, "부호나 앞자리 0이 없는 64비트 양의 정수여야 합니다.",
        "must be a positive whole number of 64 bits, without a sign or leading zeros");
  return *id;
}

std::string parseText(const std::string& text, const Parameter& parameter,
                      std::size_t maxCharacters) {
  const auto length = utf8Length(text);
  if (length && *length <= maxCharacters && text.find('\0') == std::string::npos) return text;
  const auto limit = std::to_string(maxCharacters);
  throw invalidParameter(parameter, limit + "자 이하의 UTF-8 문자열이어야 합니다.",
                         "must be text in UTF-8 of at most " + limit + " characters");
}

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
