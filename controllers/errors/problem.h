// Errors as clients see them: application/problem+json.
#pragma once

#include "services/error.h"

#include <drogon/HttpRequest.h>
#include <drogon/HttpResponse.h>

namespace festa {

// In the language that the request asks for, with the envelope's `meta` if its route has one. The
// answer is the caller's to change.
drogon::HttpResponsePtr problem(const drogon::HttpRequestPtr& request, const ServiceError& error);

}  // namespace festa
