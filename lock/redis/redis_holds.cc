#include "lock/redis/redis_holds.h"

#include "lock/redis/until_confirmed.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <utility>

namespace festa::lock {

namespace {

// KEYS hold, fence · ARGV owner, lease in ms → {1, token} · {0}: another owner holds it · {-1}: no
// epoch. Taking it twice as the same owner gives a new token and a full lease: a retry after a lost
// reply.
const RedisScript kTake(R"(
if redis.call('EXISTS', KEYS[2]) == 0 then return {-1} end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return {0} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, redis.call('INCR', KEYS[2])}
)");

// KEYS hold, fence · ARGV owner, lease in ms or '', floor or '' → {1, token or 0} · {0}: not ours ·
// {-1}: no token of this epoch is above the floor. A counter below the floor is an older epoch's,
// whose tokens must not go on; on a Redlock node (redlock_node.cc) it is merely behind the others.
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

}  // namespace

drogon::Task<std::optional<Lease>> RedisHolds::take(LockKey key, std::string owner, Millis lease) {
  const std::vector<std::string> keys{keys_.hold(key), keys_.fence()};
  const std::vector<std::string> arguments{owner, std::to_string(lease.count())};
  const auto answer = co_await server_.ask(kTake, keys, arguments);
  const auto& items = answer.reply.items;
  if (items.at(0).integer == 0) co_return std::nullopt;
  co_return Lease{key, owner, items.at(1).integer, answer.sent + lease - driftMargin(lease)};
}

drogon::Task<bool> RedisHolds::extend(Lease& lease, Extension extension) {
  const std::vector<std::string> keys{keys_.hold(lease.key), keys_.fence()};
  const auto floor = std::max(extension.fenceAbove.value_or(0), lease.fence);
  if (extension.fenceAbove) extension.fenceAbove = floor;
  const auto arguments = argumentsOf(lease.owner, extension);
  const auto answer = co_await server_.ask(kExtend, keys, arguments, floor);
  const auto& items = answer.reply.items;
  if (items.at(0).integer == 0) co_return false;
  if (extension.fenceAbove) lease.fence = items.at(1).integer;
  if (extension.lease)
    lease.validUntil = answer.sent + *extension.lease - driftMargin(*extension.lease);
  co_return true;
}

drogon::Task<Unlocked> RedisHolds::giveBack(Lease lease) {
  const std::vector<std::string> keys{keys_.hold(lease.key)};
  const std::vector<std::string> arguments{lease.owner};
  try {
    const auto answer = co_await server_.ask(kGiveBack, keys, arguments);
    co_return answer.reply.integer == 1 ? Unlocked::kReleased : Unlocked::kLost;
  } catch (const std::exception& error) {
    LOG_WARN << "an unlock was not confirmed: " << error.what();
  }
  co_return Unlocked::kUnknown;
}

void RedisHolds::abandon(LockKey key, std::string owner, Millis lease) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const auto until = SteadyClock::now() + lease;
  loop->queueInLoop([this, hold = keys_.hold(key), owner = std::move(owner), until] {
    untilConfirmed([this, hold, owner] { return isGivenBack(hold, owner); }, until);
  });
}

drogon::Task<bool> RedisHolds::isGivenBack(std::string hold, std::string owner) {
  const std::vector<std::string> keys{hold};
  const std::vector<std::string> arguments{owner};
  try {
    co_await server_.ask(kGiveBack, keys, arguments);
  } catch (const std::exception&) {
    co_return false;  // the hold, if there is one, ends with its lease
  }
  co_return true;
}

}  // namespace festa::lock
