#include "lock/redis/redis_holds.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <utility>

namespace festa::lock {

namespace {

// KEYS hold, fence · ARGV owner, lease in ms → {1, token} · {0}: somebody else's · {-1}: no epoch.
// Taking it twice as the same owner gives a new token and a full lease: a retry after a lost reply.
const RedisScript kTake(R"(
if redis.call('EXISTS', KEYS[2]) == 0 then return {-1} end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return {0} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, redis.call('INCR', KEYS[2])}
)");

// KEYS hold, fence · ARGV owner, lease in ms or '', floor or '' → {1, token or 0} · {0}: not ours ·
// {-1}: no token of this epoch is above the floor.
const RedisScript kExtend(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
local token = 0
if ARGV[3] ~= '' then
  local last = redis.call('GET', KEYS[2])
  if not last then return {-1} end
  if tonumber(last) < tonumber(ARGV[3]) then return {-1} end
  token = redis.call('INCR', KEYS[2])
end
if ARGV[2] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {1, token}
)");

// KEYS hold · ARGV owner → 1: given back · 0: not ours.
const RedisScript kGiveBack(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)");

// KEYS home → 1: the counter was started on this very server. A replica has a copy of the counter,
// perhaps without the last tokens.
const RedisScript kIsHome(R"(
local here = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('GET', KEYS[1]) == here then return 1 end
return 0
)");

std::string text(std::int64_t number) {
  return std::to_string(number);
}

}  // namespace

RedisHolds::RedisHolds(RedisCommands& commands, RedisKeys keys, EpochSource& epochs)
    : commands_(commands), keys_(std::move(keys)), epochs_(epochs) {}

drogon::Task<> RedisHolds::startNewEpoch(std::int64_t floor) {
  Waiter waiter;
  bool isDrawn = false;  // by another one
  {
    const std::lock_guard guard(mutex_);
    isDrawn = std::exchange(drawing_, true);
    if (isDrawn) waitForEpoch_.push_back(&waiter);
  }
  if (isDrawn) {
    co_await Waiter::Turn(waiter);
    co_return;
  }
  std::exception_ptr error;
  try {
    co_await lock::startNewEpoch(commands_, keys_, epochs_, floor);
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<Waiter*> waiting;
  {
    const std::lock_guard guard(mutex_);
    drawing_ = false;
    waiting.swap(waitForEpoch_);
  }
  // The others try for themselves; without an epoch they will be back.
  for (auto* const other : waiting) other->giveUp();
  if (error) std::rethrow_exception(error);
}

drogon::Task<> RedisHolds::requireHome() {
  const auto losses = commands_.losses();
  const std::vector<std::string> keys{keys_.home()};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto reply = co_await commands_.run(kIsHome, keys, {});
    if (reply.integer == 1) {
      trustedAt_ = losses;
      co_return;
    }
    // Asked again afterwards: the draw of another coroutine may have failed.
    co_await startNewEpoch();
  }
  throw LockStorageUnavailable("Redis loses its fence counter again and again");
}

drogon::Task<RedisReply> RedisHolds::run(const RedisScript& script, std::vector<std::string> keys,
                                         std::vector<std::string> arguments) {
  if (trustedAt_ != commands_.losses()) co_await requireHome();
  co_return co_await commands_.run(script, std::move(keys), std::move(arguments), this);
}

drogon::Task<std::optional<Lease>> RedisHolds::take(LockKey key, std::string owner, Millis lease) {
  const std::vector<std::string> keys{keys_.hold(key), keys_.fence()};
  const std::vector<std::string> arguments{owner, text(lease.count())};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto sent = SteadyClock::now();
    const auto reply = co_await run(kTake, keys, arguments);
    const auto verdict = reply.items.at(0).integer;
    if (verdict == 0) co_return std::nullopt;
    if (verdict == 1)
      co_return Lease{key, owner, reply.items.at(1).integer, sent + lease - driftMargin(lease)};
    co_await startNewEpoch();
  }
  throw LockStorageUnavailable("Redis loses its fence counter again and again");
}

drogon::Task<bool> RedisHolds::extend(Lease& lease, Extension extension) {
  const std::vector<std::string> keys{keys_.hold(lease.key), keys_.fence()};
  const auto floor = std::max(extension.fenceAbove.value_or(0), lease.fence);
  const std::vector<std::string> arguments{lease.owner,
                                           extension.lease ? text(extension.lease->count()) : "",
                                           extension.fenceAbove ? text(floor) : ""};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto sent = SteadyClock::now();
    const auto reply = co_await run(kExtend, keys, arguments);
    const auto verdict = reply.items.at(0).integer;
    if (verdict == 0) co_return false;
    if (verdict == 1) {
      if (extension.fenceAbove) lease.fence = reply.items.at(1).integer;
      if (extension.lease)
        lease.validUntil = sent + *extension.lease - driftMargin(*extension.lease);
      co_return true;
    }
    co_await startNewEpoch(floor);
  }
  throw LockStorageUnavailable("Redis loses its fence counter again and again");
}

drogon::Task<Unlocked> RedisHolds::giveBack(Lease lease) {
  const std::vector<std::string> keys{keys_.hold(lease.key)};
  const std::vector<std::string> arguments{lease.owner};
  try {
    const auto reply = co_await run(kGiveBack, keys, arguments);
    co_return reply.integer == 1 ? Unlocked::kReleased : Unlocked::kLost;
  } catch (const std::exception& error) {
    LOG_WARN << "an unlock was not confirmed: " << error.what();
  }
  co_return Unlocked::kUnknown;
}

void RedisHolds::abandon(trantor::EventLoop* loop, LockKey key, std::string owner, Millis lease) {
  const auto until = SteadyClock::now() + lease;
  loop->queueInLoop([this, hold = keys_.hold(key), owner = std::move(owner), until] {
    giveBackUntil(hold, owner, until);
  });
}

drogon::AsyncTask RedisHolds::giveBackUntil(std::string hold, std::string owner, SteadyTime until) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const std::vector<std::string> keys{hold};
  const std::vector<std::string> arguments{owner};
  while (SteadyClock::now() < until) {
    try {
      co_await commands_.run(kGiveBack, keys, arguments);
      co_return;
    } catch (const std::exception&) {
      // Not confirmed; the hold, if there is one, ends with its lease.
    }
    co_await drogon::sleepCoro(loop, 0.1);
  }
}

}  // namespace festa::lock
