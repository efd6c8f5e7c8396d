// Success answers.
#pragma once

#include <drogon/HttpResponse.h>

#include <string>

namespace festa {

drogon::HttpResponsePtr jsonResponse(drogon::HttpStatusCode status, std::string body);
drogon::HttpResponsePtr emptyResponse(drogon::HttpStatusCode status);

}  // namespace festa
