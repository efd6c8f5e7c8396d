#include "app/operations/lock_admin_controller.h"

#include "controllers/json/responses.h"
#include "controllers/json/utf8.h"
#include "lock/storages.h"

#include <trantor/utils/Logger.h>

#include <map>

namespace festa {

namespace {

using drogon::HttpResponsePtr;
using lock::RedisReply;

constexpr int kKeysPerStep = 500;
// A server may have many keys of others: up to a million of them are looked at.
constexpr int kMostSteps = 2000;

// ARGV cursor, pattern, keys per step, prefix → {next cursor, {storage, key, owner, PTTL, waiters
// or nil}…}. Reads only. Keys that merely look like holds are left out: of another type, or of a
// prefix that begins with ours.
const lock::RedisScript kScanHolds(R"(
local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local found = {page[1]}
for _, name in ipairs(page[2]) do
  local rest = string.sub(name, #ARGV[4] + 2)
  local at = string.find(rest, ':hold:', 1, true)
  local storage, key = string.sub(rest, 1, at - 1), string.sub(rest, at + 6)
  local owner = redis.pcall('GET', name)
  if type(owner) == 'string' and not string.find(storage, ':', 1, true) then
    local line = redis.pcall('ZCARD', ARGV[4] .. ':' .. storage .. ':line:' .. key)
    if type(line) ~= 'number' or line == 0 then line = false end
    found[#found + 1] = {storage, key, owner, redis.call('PTTL', name), line}
  end
end
return found
)");

std::string escapedForGlob(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view(R"(*?[\)").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Holds of a storage that this version does not know are shown, too.
std::string nameOfStorage(const std::string& keys) {
  for (const auto& row : lock::storageTable())
    if (row.needs == lock::Servers::kRedis && keys == row.keys) return row.name;
  return keys;
}

std::int64_t millisSince(lock::SteadyTime moment) {
  return std::chrono::duration_cast<lock::Millis>(lock::SteadyClock::now() - moment).count();
}

}  // namespace

void writeLockRows(JsonWriter& json, const std::vector<lock::LockBoard::Row>& rows) {
  json.beginArray();
  for (const auto& row : rows) {
    json.beginObject()
        .member("lockable", row.lockable)
        .member("strategy", row.strategy)
        .member("key", toUtf8(row.key))
        .member("state", row.holds ? "holding" : "waiting");
    if (row.fence) json.member("fence", *row.fence);
    json.member("ms", millisSince(row.since)).endObject();
  }
  json.endArray();
}

void LockAdminController::publish(RoutePublisher& routes) const {
  routes.add(
      *this,
      {.method = drogon::Get, .path = "/admin/locks", .access = kAdmins, .paged = Paged::kWhole},
      parseNothing, &LockAdminController::show);
}

drogon::Task<HttpResponsePtr> LockAdminController::show(const Call<NoInput>&) const {
  const auto fleet = co_await readFleet();
  JsonWriter json;
  json.beginObject().key("instance");
  const bool all = writeInstance(json);
  json.key("waiting");
  writeWaiting(json);
  json.key("fleet");
  writeFleet(json, fleet);
  json.member("truncated", !all || (fleet && !fleet->complete)).endObject();
  auto response = jsonResponse(drogon::k200OK, json.take());
  response->addHeader("Cache-Control", "no-store");
  co_return response;
}

// Returns false when there are more than fit.
bool LockAdminController::writeInstance(JsonWriter& json) const {
  auto rows = board_.rows(kMostEntries + 1);
  const bool all = rows.size() <= kMostEntries;
  if (!all) rows.pop_back();
  writeLockRows(json, rows);
  return all;
}

void LockAdminController::writeWaiting(JsonWriter& json) const {
  std::map<std::string, std::int64_t> waiting;
  for (const auto& [kind, counts] : board_.counts())
    waiting[kind.second] += static_cast<std::int64_t>(counts.waiting);
  json.beginObject();
  for (const auto& [strategy, count] : waiting) json.member(strategy, count);
  json.endObject();
}

void LockAdminController::writeFleet(JsonWriter& json, const std::optional<Fleet>& fleet) {
  if (!fleet) {
    json.null();
    return;
  }
  json.beginArray();
  for (const auto& hold : fleet->holds) {
    json.beginObject()
        .member("storage", toUtf8(hold.storage))
        .member("key", toUtf8(hold.key))
        .member("owner", toUtf8(hold.owner))
        .member("remainingMs", hold.remainingMs);
    if (hold.waiters) json.member("waiters", *hold.waiters);
    json.endObject();
  }
  json.endArray();
}

// Returns nullopt when Redis is away.
drogon::Task<std::optional<LockAdminController::Fleet>> LockAdminController::readFleet() const {
  if (redis_ == nullptr) co_return Fleet{};
  try {
    co_return co_await scan();
  } catch (const lock::LockStorageUnavailable& error) {
    LOG_WARN << "the fleet's locks cannot be listed: " << error.what();
  }
  co_return std::nullopt;
}

LockAdminController::FleetHold LockAdminController::holdIn(const std::vector<RedisReply>& row) {
  FleetHold hold{nameOfStorage(row.at(0).text), row.at(1).text, row.at(2).text, {}, {}};
  if (row.at(3).integer >= 0) hold.remainingMs = row[3].integer;
  if (row.at(4).kind == RedisReply::Kind::kInteger) hold.waiters = row[4].integer;
  return hold;
}

drogon::Task<LockAdminController::Fleet> LockAdminController::scan() const {
  // SCAN may name a key twice.
  std::map<std::pair<std::string, std::string>, FleetHold> holds;  // by storage and key
  std::vector<std::string> arguments{"0", escapedForGlob(prefix_) + ":*:hold:*",
                                     std::to_string(kKeysPerStep), prefix_};
  int steps = 0;
  do {
    const std::vector<std::string> keys;
    const RedisReply page = co_await redis_->run(kScanHolds, keys, arguments);
    for (std::size_t i = 1; i < page.items.size(); ++i) {
      auto hold = holdIn(page.items[i].items);
      holds.emplace(std::pair(hold.storage, hold.key), std::move(hold));
    }
    arguments[0] = page.items.at(0).text;
  } while (arguments[0] != "0" && ++steps < kMostSteps && holds.size() <= kMostEntries);
  Fleet fleet;
  fleet.complete = arguments[0] == "0" && holds.size() <= kMostEntries;
  for (auto& [name, hold] : holds)
    if (fleet.holds.size() < kMostEntries) fleet.holds.push_back(std::move(hold));
  co_return fleet;
}

}  // namespace festa
