#include "app/operations.h"

#include "controllers/json_writer.h"
#include "controllers/responses.h"

namespace festa {

using drogon::HttpResponsePtr;

void Operations::publish(Routes& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = "/healthz", .access = kAnyone}, parseNothing,
             &Operations::health);
  routes.add(*this, {.method = drogon::Get, .path = "/readyz", .access = kAnyone}, parseNothing,
             &Operations::readiness);
  routes.add(*this, {.method = drogon::Get, .path = "/metrics", .access = kAnyone}, parseNothing,
             &Operations::metrics);
}

drogon::Task<HttpResponsePtr> Operations::health(const Call<NoInput>&) const {
  co_return jsonResponse(drogon::k200OK, R"({"status":"alive"})");
}

drogon::Task<bool> Operations::databaseAnswers() const {
  try {
    const auto client = database_.watchClient();
    co_await client->execSqlCoro("SELECT 1");
    co_return true;
  } catch (const drogon::orm::DrogonDbException&) {
    co_return false;
  }
}

// True without one as well: what is not configured is not missed.
drogon::Task<bool> Operations::redisAnswers() const {
  auto* const redis = locks_.redis();
  if (redis == nullptr) co_return true;
  try {
    const std::vector<std::string> ping{"PING"};
    co_await redis->call(ping);
    co_return true;
  } catch (const std::exception&) {
    co_return false;
  }
}

drogon::Task<bool> Operations::redlockAnswers() const {
  auto* const redlock = locks_.redlock();
  if (redlock == nullptr) co_return true;
  co_return co_await redlock->answers();
}

drogon::Task<HttpResponsePtr> Operations::readiness(const Call<NoInput>&) const {
  const bool answers = co_await databaseAnswers();
  const bool redisIsThere = co_await redisAnswers();
  const bool redlockIsThere = co_await redlockAnswers();
  std::string status = "ready";
  if (drain_.stage() != Drain::Stage::kServing)
    status = "draining";
  else if (!answers)
    status = "database unavailable";
  JsonWriter json;
  json.beginObject().member("status", status).key("degraded").beginArray();
  if (!redisIsThere) json.value("redis");
  if (!redlockIsThere) json.value("redlock");
  if (!queues_.brokerIsThere()) json.value("rabbitmq");
  json.endArray().endObject();
  auto response = jsonResponse(status == "ready" ? drogon::k200OK : drogon::k503ServiceUnavailable,
                               json.take());
  if (status != "ready") response->addHeader("Retry-After", "1");
  co_return response;
}

drogon::Task<HttpResponsePtr> Operations::metrics(const Call<NoInput>&) const {
  const auto text = co_await metrics_.text();
  auto response = drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_CUSTOM);
  response->setContentTypeString("text/plain; version=0.0.4; charset=utf-8");
  response->setBody(text);
  co_return response;
}

}  // namespace festa
