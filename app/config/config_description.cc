#include "app/config/config_description.h"

#include "app/config/config_fields.h"
#include "app/config/lock_settings.h"
#include "services/write/guarded_write.h"

namespace festa {

namespace {

constexpr const char* kIntroduction = R"(# Configuration

<!-- Made by `./dev docs` from the table in app/config/config.cc. -->

`festabook [config.json]`; every key can be overridden by its variable, e.g. `FESTA_DATABASE_PASSWORD`. In the file a key's
sections are objects: `{"http": {"port": 8080}}`; comments are allowed. A list is an array of strings in the file and separated by
commas in the variable. Unknown keys and impossible combinations stop the start with a sentence that names the key;
`festabook --check config.json` looks without starting.

A default of – means empty or not set; what that stands for is said beside it.
)";

std::string notes() {
  return R"(
## Combinations that stop the start

- `lab` or `demo` in `production`; `queue.work_ms` outside the lab.
- `metrics.address` without `metrics.port`; `metrics.port` the same as `http.port`.
- `http.api_prefix` that begins like a path of the API.
- No `auth.jwt_secret`, a short one, or the demo's in `production`.
- Fewer `database.connections` than event loops.
- `redlock.nodes` that are fewer than three, an even number, or name a server twice.
- A strategy whose server is not configured (`redis.host`, `redlock.nodes`, `rabbitmq.host`), one that works inside one process with
  `lock.instances` > 1, one that is for coupons with another lock, or one that protects nothing, outside the lab.
- A lease that the time-outs of the longest attempt of a write can outlast: `database.pool_timeout_ms`, )" +
         std::to_string(kLongestAttemptStatements) +
         R"( ×
  `database.statement_timeout_ms` and `database.commit_timeout_ms` must add up to less than what a holder has of it.
- `max_hold_ms` that is neither 0 nor at least the lease; a lease longer than `redlock.max_lease_ms` where there are
  `redlock.nodes`.
)";
}

std::string code(const std::string& text) {
  return text.empty() ? "–" : "`" + text + "`";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + code(word);
  return text;
}

// The three columns that follow from a field's type.
struct Columns {
  std::string type;
  std::string standard;
  std::string bounds;
};

Columns columnsOf(const std::string* member) {
  return {"text", code(*member)};
}

Columns columnsOf(const Choice& choice) {
  return {"word", code(*choice.member), joined(choice.words)};
}

Columns columnsOf(const bool* member) {
  return {"`true`, `false`", code(*member ? "true" : "false")};
}

Columns columnsOf(const std::optional<bool>* member) {
  const bool value = member->value_or(false);
  return columnsOf(&value);
}

Columns columnsOf(const std::vector<std::string>* member) {
  return {"list of texts", member->empty() ? "–" : joined(*member)};
}

Columns columnsOf(const std::vector<Config::Redlock::Node>* member) {
  std::vector<std::string> nodes;
  for (const auto& node : *member) nodes.push_back(node.text());
  return {"list of `host:port`", nodes.empty() ? "–" : joined(nodes)};
}

template <class Number>
std::string unitOf() {
  if constexpr (std::is_same_v<Number, std::chrono::milliseconds>)
    return "milliseconds";
  else if constexpr (std::is_same_v<Number, std::chrono::seconds>)
    return "seconds";
  else if constexpr (std::is_same_v<Number, std::chrono::minutes>)
    return "minutes";
  else if constexpr (std::is_same_v<Number, std::chrono::hours>)
    return "hours";
  else
    return "number";
}

template <class Number>
Columns columnsOf(const Bounded<Number>& bounded) {
  return {unitOf<Number>(), std::to_string(countOf(*bounded.member)),
          std::to_string(bounded.least) + " … " + std::to_string(bounded.most)};
}

Columns columnsOf(const Bounded<OptionalMillis>& bounded) {
  auto value = bounded.member->value_or(std::chrono::milliseconds(0));
  return columnsOf(Bounded<std::chrono::milliseconds>{&value, bounded.least, bounded.most});
}

std::string rowOf(const Field& field) {
  const auto columns = std::visit([](const auto& value) { return columnsOf(value); }, field.value);
  return "| `" + field.key + "` | `" + variableName(field.key) + "` | " + columns.type + " | " +
         columns.standard + " | " + columns.bounds + " | " + field.help + " |\n";
}

std::string tableOf(const Section& section) {
  std::string text = "\n## " + (section.name.empty() ? "General" : code(section.name)) + "\n\n" +
                     section.about +
                     "\n\n"
                     "| key | variable | type | default | bounds | meaning |\n"
                     "|---|---|---|---|---|---|\n";
  for (const auto& field : section.fields) text += rowOf(field);
  return text;
}

// With what the Lockables declare where the settings change nothing.
Config defaults() {
  Config config;
  for (const auto* lockable : declaredLocks())
    config.lock.lockables[lockable->name] = {lockable->strategy, lockable->wait,
                                             lockable->lease,    lockable->maxHold,
                                             lockable->failFast, lockable->together};
  return config;
}

}  // namespace

std::string describeConfig() {
  auto config = defaults();
  std::string text = kIntroduction;
  for (const auto& section : sectionsOf(config)) text += tableOf(section);
  return text + notes();
}

}  // namespace festa
