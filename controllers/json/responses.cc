#include "controllers/json/responses.h"

#include "controllers/json/json_writer.h"

namespace festa {

namespace {

constexpr std::string_view kMeta = R"("meta":{"result":"ok","errorCode":null,"errorMessage":null})";

}  // namespace

drogon::HttpResponsePtr jsonResponse(drogon::HttpStatusCode status, std::string body) {
  auto response = drogon::HttpResponse::newHttpResponse(status, drogon::CT_APPLICATION_JSON);
  response->setBody(std::move(body));
  return response;
}

drogon::HttpResponsePtr emptyResponse(drogon::HttpStatusCode status) {
  auto response = drogon::HttpResponse::newHttpResponse(status, drogon::CT_NONE);
  return response;
}

std::string contentEnvelope(std::string_view content) {
  std::string text;
  text.reserve(content.size() + kMeta.size() + 16);
  text.append(R"({"content":)").append(content).append(",").append(kMeta).append("}");
  return text;
}

std::string listEnvelope(std::string_view items, const Paging& paging) {
  JsonWriter json;
  json.beginObject()
      .member("totalCount", paging.totalCount)
      .member("currentPage", paging.currentPage)
      .member("perPage", paging.perPage)
      .member("totalPage", (paging.totalCount + paging.perPage - 1) / paging.perPage)
      .endObject();
  std::string text;
  text.reserve(items.size() + kMeta.size() + 128);
  text.append(R"({"items":)").append(items).append(",").append(kMeta);
  text.append(R"(,"paging":)").append(json.take()).append("}");
  return text;
}

}  // namespace festa
