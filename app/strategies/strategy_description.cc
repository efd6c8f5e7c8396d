#include "app/strategies/strategy_description.h"

#include "app/strategies/strategies.h"
#include "controllers/json/json_writer.h"

namespace festa {

namespace {

constexpr const char* kIntroduction = R"(# Strategies

<!-- Made by `./dev docs` from the tables in lock/storages.h and app/strategies/strategies.h. -->

The ways to protect a write, as `lock.strategy` and `lock.lockables.….strategy` name them, and `X-Concurrency` in the lab.
`festabook strategies` prints this, `festabook strategies --json` the same for programs. What each promises in detail, what it
costs and how it fails: [guarantees.md](guarantees.md#which-strategy).

| strategy | what it is | needs | scope | order | when |
|---|---|---|---|---|---|
)";

constexpr const char* kNotes = R"(
*Scope*: which writers exclude each other. *Order*: whose waiters are served in the order of their arrival. **Bold**: the one to
begin with, for one instance and for several.
)";

const char* kindOf(const StrategyRow& row) {
  if (row.takesLock()) return "lock";
  if (row.queues) return "queue";
  return row.inside == Guard::kNone ? "none" : "guard";
}

const char* wordFor(lock::Order order) {
  switch (order) {
    case lock::Order::kNone: return "none";
    case lock::Order::kInProcess: return "process";
    case lock::Order::kOverall: return "overall";
  }
  return "";
}

std::string serversOf(Needs needs) {
  switch (needs) {
    case Needs::kNothing: return "–";
    case Needs::kRedis: return "one Redis (`redis.host`)";
    case Needs::kRedlock: return "three or more Redis nodes (`redlock.nodes`)";
    case Needs::kRabbitMq: return "RabbitMQ (`rabbitmq.host`)";
  }
  return "";
}

std::string scopeOf(const StrategyRow& row) {
  if (row.labOnly) return "none; lab only";
  return row.acrossProcesses ? "all processes" : "one process";
}

std::string orderOf(lock::Order order) {
  switch (order) {
    case lock::Order::kNone: return "–";
    case lock::Order::kInProcess: return "within a process";
    case lock::Order::kOverall: return "overall";
  }
  return "";
}

std::string lineOf(const StrategyRow& row) {
  const std::string frame = row.isRecommended() ? "**" : "";
  return "| " + frame + '`' + row.name + '`' + frame + " | " + row.what + " | " +
         serversOf(row.needs) + " | " + scopeOf(row) + " | " + orderOf(row.order) + " | " +
         row.use + " |\n";
}

}  // namespace

std::string describeStrategies() {
  std::string text = kIntroduction;
  for (const auto& row : strategyTable()) text += lineOf(row);
  return text + kNotes;
}

std::string strategiesAsJson() {
  JsonWriter json;
  json.beginArray();
  for (const auto& row : strategyTable()) {
    json.beginObject()
        .member("name", row.name)
        .member("what", row.what)
        .member("use", row.use)
        .member("kind", kindOf(row))
        .key("needs");
    if (row.needs == Needs::kNothing)
      json.null();
    else
      json.value(nameOf(row.needs));
    json.member("scope", row.acrossProcesses ? "processes" : "process")
        .member("order", wordFor(row.order))
        .member("lab_only", row.labOnly)
        .member("refuses_stale_updates", row.refusesStaleUpdates)
        .member("recommended", row.isRecommended())
        .endObject();
  }
  json.endArray();
  return json.take() + '\n';
}

}  // namespace festa
