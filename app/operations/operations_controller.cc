#include "app/operations/operations_controller.h"

#include "controllers/json/json_writer.h"
#include "controllers/json/responses.h"

namespace festa {

using drogon::HttpResponsePtr;

void OperationsController::publish(RoutePublisher& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = "/healthz", .access = kAnyone}, parseNothing,
             &OperationsController::live);
  routes.add(*this, {.method = drogon::Get, .path = "/readyz", .access = kAnyone}, parseNothing,
             &OperationsController::readiness);
  routes.add(*this, {.method = drogon::Get, .path = "/metrics", .access = kAnyone}, parseNothing,
             &OperationsController::metrics);
}

drogon::Task<HttpResponsePtr> OperationsController::live(const Call<NoInput>&) const {
  co_return jsonResponse(drogon::k200OK, R"({"status":"alive"})");
}

drogon::Task<HttpResponsePtr> OperationsController::readiness(const Call<NoInput>&) const {
  const auto database = co_await health_.database();
  const auto redis = co_await health_.redis();
  const auto redlock = co_await health_.redlock();
  std::string status = "ready";
  if (drain_.stage() != Drain::Stage::kServing)
    status = "draining";
  else if (database == Answering::kNo)
    status = "database unavailable";
  JsonWriter json;
  json.beginObject().member("status", status).key("degraded").beginArray();
  if (redis == Answering::kNo) json.value("redis");
  if (redlock == Answering::kNo) json.value("redlock");
  if (health_.broker() == Answering::kNo) json.value("rabbitmq");
  json.endArray().endObject();
  auto response = jsonResponse(status == "ready" ? drogon::k200OK : drogon::k503ServiceUnavailable,
                               json.take());
  if (status != "ready") response->addHeader("Retry-After", "1");
  co_return response;
}

drogon::Task<HttpResponsePtr> OperationsController::metrics(const Call<NoInput>&) const {
  const auto reading = co_await metrics_.read();
  auto response = drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_CUSTOM);
  response->setContentTypeString("text/plain; version=0.0.4; charset=utf-8");
  response->setBody(reading->text);
  co_return response;
}

}  // namespace festa
