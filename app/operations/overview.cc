#include "app/operations/overview.h"

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

std::int64_t millisSince(lock::SteadyTime moment) {
  return std::chrono::duration_cast<lock::Millis>(lock::SteadyClock::now() - moment).count();
}

void writeRow(JsonWriter& json, const lock::LockBoard::Row& row) {
  json.beginObject()
      .member("lockable", row.lockable)
      .member("strategy", row.strategy)
      .member("key", toUtf8(row.key))
      .member("state", row.holds ? "holding" : "waiting");
  if (row.fence) json.member("fence", *row.fence);
  json.member("ms", millisSince(row.since)).endObject();
}

void writeCounts(JsonWriter& json, const RecentHistogram::Counts& counts) {
  json.beginArray();
  for (const auto count : counts) json.value(static_cast<std::int64_t>(count));
  json.endArray();
}

void writeCounters(JsonWriter& json, const MetricSums& sums) {
  json.key("counters").beginObject();
  for (const auto& row : kCounters) json.member(row.name, whole(valueOf(sums, row.metric)));
  json.endObject();
  // All metrics with this prefix, so that a new one needs no change here.
  json.key("sharedTransactions").beginObject();
  for (const auto& [name, value] : sums)
    if (name.starts_with("festa_batch") || name.starts_with("festa_shared"))
      json.key(name).value(whole(value));
  json.endObject();
}

void writeQueues(JsonWriter& json, std::string_view metrics) {
  const auto waiting = metricBy(metrics, "festa_queue_waiting", "queue");
  auto inWork = metricBy(metrics, "festa_queue_in_work", "queue");
  auto redelivered = metricBy(metrics, "festa_queue_redelivered_total", "queue");
  auto dead = metricBy(metrics, "festa_queue_dead_lettered_total", "queue");
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

void Overview::publish(RoutePublisher& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = "/admin/overview", .access = kAdmins},
             parseNothing, &Overview::show);
}

// Nullopt: the database did not answer.
drogon::Task<std::optional<std::vector<InstanceRow>>> Overview::instances() const {
  try {
    co_return co_await parts_.heartbeat.read();
  } catch (const drogon::orm::DrogonDbException&) {
    co_return std::nullopt;
  }
}

void Overview::writeLocks(JsonWriter& json) const {
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
      .key("rows")
      .beginArray();
  for (const auto& row : board.rows(kMostRows)) writeRow(json, row);
  json.endArray().endObject();
}

void Overview::writeHistograms(JsonWriter& json) const {
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

void Overview::writeDoor(JsonWriter& json, const MetricSums& sums) const {
  const auto& config = parts_.config;
  json.key("door").beginObject();
  writeLimit(json, "requests", valueOf(sums, "festa_http_in_flight"),
             static_cast<std::size_t>(config.http.maxRequests));
  writeLimit(json, "holders", valueOf(sums, "festa_lock_holders"), config.inFlightLimit());
  writeLimit(json, "waiters", valueOf(sums, "festa_lock_waiting"), config.lock.maxWaiters);
  json.member("connections", whole(valueOf(sums, "festa_http_connections")))
      .member("connectionsRefused", whole(valueOf(sums, "festa_http_connections_refused_total")))
      .endObject();
}

drogon::Task<HttpResponsePtr> Overview::show(const Call<NoInput>&) const {
  const auto metrics = co_await parts_.metrics.text();
  const auto database = co_await parts_.health.database();
  const auto redis = co_await parts_.health.redis();
  const auto redlock = co_await parts_.health.redlock();
  const auto others = co_await instances();
  const auto sums = metricSums(metrics);
  JsonWriter json;
  json.beginObject()
      .member("instance", parts_.heartbeat.name())
      .member("upSeconds", parts_.heartbeat.upSeconds());
  json.key("health")
      .beginObject()
      .member("database", nameOf(database))
      .member("redis", nameOf(redis))
      .member("redlock", nameOf(redlock))
      .member("broker", nameOf(parts_.health.broker()))
      .endObject();
  writeLocks(json);
  writeHistograms(json);
  writeCounters(json, sums);
  writeQueues(json, metrics);
  json.member("loopLagMicros", whole(valueOf(sums, "festa_loop_lag_seconds") * 1e6));
  writeDoor(json, sums);
  writeInstances(json, others);
  auto response = jsonResponse(drogon::k200OK, json.endObject().take());
  response->addHeader("Cache-Control", "no-store");
  co_return response;
}

}  // namespace festa
