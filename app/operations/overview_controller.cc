#include "app/operations/overview_controller.h"

#include "app/operations/lock_admin_controller.h"
#include "controllers/json/responses.h"
#include "controllers/json/utf8.h"

#include <array>
#include <cmath>
#include <set>

namespace festa {

using drogon::HttpResponsePtr;

namespace {

struct CounterRow {
  const char* name;  // in the answer
  const char* metric;
};

constexpr std::array kCounters{
    CounterRow{"fencesRefused", "festa_fence_refused_total"},
    CounterRow{"fencesRenewed", "festa_fence_renewed_total"},
    CounterRow{"conflictsRepeated", "festa_write_conflicts_total"},
    CounterRow{"unknownCommits", "festa_commit_unknown_total"},
    CounterRow{"offersExpired", "festa_lock_offers_expired_total"},
    CounterRow{"lockedRequests", "festa_lock_requests_total"},
    CounterRow{"requests", "festa_http_requests_total"},
};

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

double valueOf(const prometheus::MetricFamily& family, const prometheus::ClientMetric& metric) {
  return family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value;
}

// Sums a counter or gauge over its labels.
double sumOf(const prometheus::MetricFamily& family) {
  double sum = 0;
  for (const auto& metric : family.metric) sum += valueOf(family, metric);
  return sum;
}

// Returns 0 when there is none of this name.
double sumOf(const MetricFamilies& metrics, std::string_view name) {
  double sum = 0;
  for (const auto& family : metrics)
    if (family.name == name) sum += sumOf(family);
  return sum;
}

// Sums a family by the values of one of its labels.
std::map<std::string, double> sumsBy(const MetricFamilies& metrics, std::string_view name,
                                     std::string_view label) {
  std::map<std::string, double> sums;
  for (const auto& family : metrics) {
    if (family.name != name) continue;
    for (const auto& metric : family.metric)
      for (const auto& [labelName, value] : metric.label)
        if (labelName == label) sums[value] += valueOf(family, metric);
  }
  return sums;
}

void writeCounts(JsonWriter& json, const RecentHistogram::Counts& counts) {
  json.beginArray();
  for (const auto count : counts) json.value(static_cast<std::int64_t>(count));
  json.endArray();
}

void writeCounters(JsonWriter& json, const MetricFamilies& metrics) {
  json.key("counters").beginObject();
  for (const auto& row : kCounters) json.member(row.name, whole(sumOf(metrics, row.metric)));
  json.endObject();
  // All metrics with this prefix, so that a new one needs no change here.
  json.key("sharedTransactions").beginObject();
  for (const auto& family : metrics)
    if (family.name.starts_with("festa_batch") || family.name.starts_with("festa_shared"))
      json.key(family.name).value(whole(sumOf(family)));
  json.endObject();
}

void writeQueues(JsonWriter& json, const MetricFamilies& metrics) {
  const auto waiting = sumsBy(metrics, "festa_queue_waiting", "queue");
  auto inWork = sumsBy(metrics, "festa_queue_in_work", "queue");
  auto redelivered = sumsBy(metrics, "festa_queue_redelivered_total", "queue");
  auto dead = sumsBy(metrics, "festa_queue_dead_lettered_total", "queue");
  json.key("queues").beginArray();
  for (const auto& [queue, count] : waiting)
    json.beginObject()
        .member("name", queue)
        .member("waiting", whole(count))
        .member("inWork", whole(inWork[queue]))
        .member("redelivered", whole(redelivered[queue]))
        .member("deadLettered", whole(dead[queue]))
        .endObject();
  json.endArray();
}

void writeLimit(JsonWriter& json, const char* name, double used, std::size_t limit) {
  json.key(name)
      .beginObject()
      .member("used", whole(used))
      .member("limit", static_cast<std::int64_t>(limit))
      .endObject();
}

void writeInstances(JsonWriter& json, const std::optional<std::vector<InstanceRow>>& instances) {
  json.key("instances");
  if (!instances) {
    json.null();
    return;
  }
  json.beginArray();
  for (const auto& row : *instances)
    json.beginObject()
        .member("name", toUtf8(row.name))
        .member("upSeconds", row.upSeconds)
        .member("seenMillisAgo", row.seenMillisAgo)
        .member("holding", row.holding)
        .member("waiting", row.waiting)
        .member("inFlight", row.inFlight)
        .endObject();
  json.endArray();
}

}  // namespace

void OverviewController::publish(RoutePublisher& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = "/admin/overview", .access = kAdmins},
             parseNothing, &OverviewController::show);
}

// Returns nullopt when the database does not answer.
drogon::Task<std::optional<std::vector<InstanceRow>>> OverviewController::instances() const {
  try {
    co_return co_await parts_.instances.read();
  } catch (const drogon::orm::DrogonDbException&) {
    co_return std::nullopt;
  }
}

void OverviewController::writeLocks(JsonWriter& json) const {
  auto& board = parts_.locks.board();
  std::size_t holding = 0;
  std::size_t waiting = 0;
  for (const auto& [kind, counts] : board.counts()) {
    holding += counts.holding;
    waiting += counts.waiting;
  }
  json.key("locks")
      .beginObject()
      .member("holding", static_cast<std::int64_t>(holding))
      .member("waiting", static_cast<std::int64_t>(waiting))
      .key("rows");
  writeLockRows(json, board.rows(kMostRows));
  json.endObject();
}

void OverviewController::writeHistograms(JsonWriter& json) const {
  const auto now = lock::SteadyClock::now();
  const auto& recent = parts_.locks.recent();
  json.key("histograms")
      .beginObject()
      .member("minutes", std::int64_t{RecentHistogram::kSpan.count()})
      .key("boundsMicros")
      .beginArray();
  for (const auto bound : RecentHistogram::kBoundsMicros) json.value(bound);
  json.endArray().key("waits");
  writeCounts(json, recent.waits().counts(now));
  json.key("holds");
  writeCounts(json, recent.holds().counts(now));
  json.endObject();
}

void OverviewController::writeDoor(JsonWriter& json, const MetricFamilies& metrics) const {
  const auto& config = parts_.config;
  json.key("door").beginObject();
  writeLimit(json, "requests", sumOf(metrics, "festa_http_in_flight"),
             static_cast<std::size_t>(config.http.maxRequests));
  writeLimit(json, "holders", sumOf(metrics, "festa_lock_holders"), config.inFlightLimit());
  writeLimit(json, "waiters", sumOf(metrics, "festa_lock_waiting"), config.lock.maxWaiters);
  json.member("connections", whole(sumOf(metrics, "festa_http_connections")))
      .member("connectionsRefused", whole(sumOf(metrics, "festa_http_connections_refused_total")))
      .endObject();
}

drogon::Task<HttpResponsePtr> OverviewController::show(const Call<NoInput>&) const {
  const auto reading = co_await parts_.metrics.read();
  const auto& metrics = reading->families;
  const auto database = co_await parts_.health.database();
  const auto redis = co_await parts_.health.redis();
  const auto redlock = co_await parts_.health.redlock();
  const auto others = co_await instances();
  JsonWriter json;
  json.beginObject()
      .member("instance", parts_.instances.name())
      .member("upSeconds", parts_.instances.upSeconds());
  json.key("health")
      .beginObject()
      .member("database", nameOf(database))
      .member("redis", nameOf(redis))
      .member("redlock", nameOf(redlock))
      .member("broker", nameOf(parts_.health.broker()))
      .endObject();
  writeLocks(json);
  writeHistograms(json);
  writeCounters(json, metrics);
  writeQueues(json, metrics);
  json.member("loopLagMicros", whole(sumOf(metrics, "festa_loop_lag_seconds") * 1e6));
  writeDoor(json, metrics);
  writeInstances(json, others);
  auto response = jsonResponse(drogon::k200OK, json.endObject().take());
  response->addHeader("Cache-Control", "no-store");
  co_return response;
}

}  // namespace festa
