#include "controllers/json/responses.h"

namespace festa {

drogon::HttpResponsePtr jsonResponse(drogon::HttpStatusCode status, std::string body) {
  auto response = drogon::HttpResponse::newHttpResponse(status, drogon::CT_APPLICATION_JSON);
  response->setBody(std::move(body));
  return response;
}

drogon::HttpResponsePtr emptyResponse(drogon::HttpStatusCode status) {
  auto response = drogon::HttpResponse::newHttpResponse(status, drogon::CT_NONE);
  return response;
}

}  // namespace festa
