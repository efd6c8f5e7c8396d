// Errors become HTTP here and nowhere else: application/problem+json.
#pragma once

#include "lock/lock_observer.h"
#include "lock/lockable.h"
#include "services/error.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

#include <exception>

namespace festa {

// In the language that the request asks for, with the envelope's `meta` if its route has one. The
// answer is the caller's to change.
drogon::HttpResponsePtr problem(const drogon::HttpRequestPtr& request, const ServiceError& error);

// The answer to a request that Drogon refuses by itself, mostly before it was read to its end.
drogon::HttpResponsePtr refusalOf(const drogon::HttpRequestPtr& request,
                                  drogon::HttpStatusCode status);

// Any exception on a request's way. Says nothing internal to the client; logs what was not
// expected.
drogon::HttpResponsePtr toResponse(const drogon::HttpRequestPtr& request,
                                   const std::exception& error);
// The exception may be of any type.
drogon::HttpResponsePtr toResponse(const drogon::HttpRequestPtr& request,
                                   const std::exception_ptr& error);

// The answer for a request that did not get past its lock.
drogon::HttpResponsePtr lockRefusal(const drogon::HttpRequestPtr& request,
                                    lock::LockOutcome outcome, const lock::Lockable& lockable);

}  // namespace festa
