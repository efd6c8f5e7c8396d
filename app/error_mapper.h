// Errors become HTTP here and nowhere else.
#pragma once

#include "lock/lock_middleware.h"
#include "services/error.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

namespace festa {

// The code as clients know it, e.g. PINNED_LIMIT_EXCEEDED.
const char* nameOf(ErrorCode code);

// application/problem+json in the language that the request asks for. The answer is the caller's to
// change.
drogon::HttpResponsePtr problem(const drogon::HttpRequestPtr& request, const ServiceError& error);

// The answer to a request that Drogon refuses by itself, mostly before it was read to its end.
drogon::HttpResponsePtr refusalOf(const drogon::HttpRequestPtr& request,
                                  drogon::HttpStatusCode status);

// Any exception of a handler or middleware. Says nothing internal to the client; logs what nobody
// expected.
drogon::HttpResponsePtr toResponse(const drogon::HttpRequestPtr& request,
                                   const std::exception& error);

// The answer for a request that did not get past its lock.
drogon::HttpResponsePtr lockRefusal(const drogon::HttpRequestPtr& request,
                                    lock::LockOutcome outcome, const lock::Lockable& lockable);

}  // namespace festa
