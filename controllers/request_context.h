// What is known about a request before its handler runs.
#pragma once

#include "controllers/route_table.h"
#include "services/idempotency_service.h"
#include "services/token_service.h"

#include <drogon/HttpRequest.h>
#include <json/json.h>

#include <any>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace festa {

// Made by the edge when the request has found its route, filled by the endpoint gate; then
// read-only, except for what is measured. Belongs to the request.
struct RequestContext {
  RouteTable::Match route;
  std::string pathPrefix;        // what the client sent before request->path(), e.g. /api
  bool mustNotBeStored = false;  // its answer carries a token
  // The caller's token has ended by the change that this request may be a repetition of: nothing
  // but its kept answer may be given.
  bool mayOnlyRepeat = false;
  std::optional<Caller> caller;                    // endpoints for anyone have none
  Json::Value body;                                // null: the endpoint takes none
  std::any input;                                  // what the endpoint's parse function returned
  std::optional<IdempotencyClaim> claim;           // of a request with an Idempotency-Key
  std::chrono::steady_clock::duration poolWait{};  // for database connections of its writes

  // `path.<name>`, `token.<claim>` or `body.<field>`, for lock keys; nullopt when the request has
  // no such value.
  std::optional<std::string> variable(std::string_view name) const;
};

// Why a token within its time is refused; for the log.
inline constexpr const char* kEndedToken = "the password was changed after the token was issued";

void attachContext(const drogon::HttpRequestPtr& request, std::shared_ptr<RequestContext> context);
RequestContext& contextOf(const drogon::HttpRequestPtr& request);

template <class Input>
const Input& inputOf(const drogon::HttpRequestPtr& request) {
  return std::any_cast<const Input&>(contextOf(request).input);
}

// A positive 64-bit number in decimal digits and nothing else: no sign, no leading zero, so that
// equal ids are equal texts in lock keys. Throws
// ServiceError(kInvalidParameter) naming `what`.
std::int64_t parseId(const std::string& text, const std::string& what);

}  // namespace festa
