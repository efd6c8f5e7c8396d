// What is known about a request before its handler runs.
#pragma once

#include "controllers/http/drain.h"
#include "controllers/http/route_table.h"
#include "services/accounts/token_service.h"
#include "services/idempotency/idempotency_service.h"

#include <drogon/HttpRequest.h>

#include <chrono>
#include <optional>
#include <string>

namespace festa {

// Made by the front when the request has found its route, filled by the pipeline. Belongs to the
// request: Drogon's hooks share nothing else.
struct RequestContext {
  std::string requestId = {};  // in the log and in X-Request-Id
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::optional<Drain::InFlight> inFlight = {};  // once the request has been read to its end
  RouteTable::Match match = {};
  std::string pathPrefix = {};  // what the client sent before request->path(), e.g. /api
  // The token was ended by a change of password. This may be a repetition of that change: it is
  // answered only from the store of idempotency keys.
  bool mayOnlyRepeat = false;
  std::optional<Caller> caller = {};                // routes for anyone have none
  std::optional<IdempotencyAttempt> attempt = {};   // set by an Idempotency-Key
  std::chrono::steady_clock::duration poolWait{0};  // for database connections of its writes
};

// Why a token within its time is refused; for the log.
inline constexpr const char* kEndedToken = "the password was changed after the token was issued";

// Makes the request's context. Its address stays the same while the request lives.
RequestContext& attachContext(const drogon::HttpRequestPtr& request);
// Returns nullptr when Drogon refused the request before the front saw it.
RequestContext* findContext(const drogon::HttpRequestPtr& request);
RequestContext& contextOf(const drogon::HttpRequestPtr& request);

// The request's connection was reset, or closed for one of its limits: its answer cannot be sent. A
// client that only sends nothing more is still there.
bool hasGone(const drogon::HttpRequestPtr& request);

}  // namespace festa
