#include "lock/redis/redlock_node.h"

#include "lock/backoff.h"
#include "lock/random_bits.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

namespace festa::lock {

namespace {

// Replies of all scripts: {1, number}: yes · {0}: no · {2, number}: claimed by another ·
// {-1}: no epoch · {-2}: no vote.

// KEYS hold, fence, ready, began, quarantine, tombstone · ARGV owner, lease, longest lease in ms.
// The counter moves with every take, so that those who take different keys at the same time get
// different numbers.
const RedisScript kTake(R"(
if redis.call('EXISTS', KEYS[3]) == 0 then
  if redis.call('EXISTS', KEYS[4]) == 0 then
    redis.call('SET', KEYS[5], 1, 'PX', ARGV[3])
    redis.call('SET', KEYS[4], 1)
    return {-2}
  end
  if redis.call('EXISTS', KEYS[5]) == 1 then return {-2} end
  redis.call('SET', KEYS[3], 1)
  redis.call('DEL', KEYS[4])
end
if redis.call('EXISTS', KEYS[2]) == 0 then return {-1} end
if redis.call('EXISTS', KEYS[1], KEYS[6]) > 0 then return {0} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1, redis.call('INCR', KEYS[2])}
)");

// KEYS hold, fence, claim · ARGV owner, token, longest lease in ms. The claim outlives every hold
// that was taken before it: a later one is handed larger numbers.
const RedisScript kClaim(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
if not redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[3])
    and redis.call('GET', KEYS[3]) ~= ARGV[1] then
  return {2, redis.call('INCR', KEYS[2])}
end
local last = redis.call('GET', KEYS[2])
if not last or tonumber(last) < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2]) end
return {1}
)");

// KEYS hold, fence · ARGV owner, lease in ms or '', floor or ''.
const RedisScript kExtend(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
local number = 0
if ARGV[3] ~= '' then
  local last = redis.call('GET', KEYS[2])
  if not last then return {-1} end
  if tonumber(last) < tonumber(ARGV[3]) then redis.call('SET', KEYS[2], ARGV[3]) end
  number = redis.call('INCR', KEYS[2])
end
if ARGV[2] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {1, number}
)");

// KEYS hold, tombstone · ARGV owner, longest lease in ms. Without a hold, the owner's take may be
// still to come.
const RedisScript kGiveBack(R"(
if redis.call('GET', KEYS[1]) == ARGV[1] then return {redis.call('DEL', KEYS[1])} end
redis.call('SET', KEYS[2], 1, 'PX', ARGV[2])
return {0}
)");

constexpr std::int64_t kNoEpoch = -1;

NodeReply::Kind kindOf(std::int64_t code) {
  switch (code) {
    case 1: return NodeReply::Kind::kYes;
    case 0: return NodeReply::Kind::kNo;
    case 2: return NodeReply::Kind::kClaimed;
    default: return NodeReply::Kind::kNoVote;
  }
}

std::string text(std::int64_t number) {
  return std::to_string(number);
}

}  // namespace

RedlockNode::RedlockNode(const RedisClientSource& clients, RedlockKeys keys, EpochSource& epochs,
                         Millis longestLease)
    : commands_(clients),
      keys_(std::move(keys)),
      epochs_(epochs),
      longestLease_(text(longestLease.count())) {}

drogon::Task<NodeReply> RedlockNode::take(LockKey key, std::string owner, Millis lease) {
  return ask(kTake,
             {keys_.hold(key), keys_.fence(), keys_.ready(), keys_.began(), keys_.quarantine(),
              keys_.tombstone(owner)},
             {owner, text(lease.count()), longestLease_});
}

drogon::Task<NodeReply> RedlockNode::claim(LockKey key, std::string owner, std::int64_t token) {
  return ask(kClaim, {keys_.hold(key), keys_.fence(), keys_.claim(token)},
             {owner, text(token), longestLease_});
}

drogon::Task<NodeReply> RedlockNode::extend(LockKey key, std::string owner, Extension extension) {
  return ask(kExtend, {keys_.hold(key), keys_.fence()},
             {owner, extension.lease ? text(extension.lease->count()) : "",
              extension.fenceAbove ? text(*extension.fenceAbove) : ""});
}

drogon::Task<NodeReply> RedlockNode::giveBack(LockKey key, std::string owner) {
  return ask(kGiveBack, {keys_.hold(key), keys_.tombstone(owner)}, {owner, longestLease_});
}

drogon::AsyncTask RedlockNode::giveBackUntil(LockKey key, std::string owner, SteadyTime until) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  // Many may be at this while a node is away for long.
  Backoff backoff(Millis{100}, Millis{1600});
  do {
    const auto reply = co_await giveBack(key, owner);
    if (!reply.isFailure()) co_return;
    co_await drogon::sleepCoro(loop, std::chrono::duration<double>(backoff.next(randomBits())));
  } while (SteadyClock::now() < until);
}

drogon::Task<NodeReply> RedlockNode::ping() {
  const std::vector<std::string> command{"PING"};
  try {
    co_await commands_.call(command);
  } catch (const std::exception&) {
    co_return NodeReply{};
  }
  co_return NodeReply{NodeReply::Kind::kYes};
}

drogon::Task<bool> RedlockNode::drawEpoch() {
  try {
    co_await startNewEpoch(commands_, keys_, epochs_);
  } catch (const std::exception& error) {
    LOG_WARN << "a Redlock node gets no epoch: " << error.what();
    co_return false;
  }
  co_return true;
}

drogon::Task<NodeReply> RedlockNode::ask(const RedisScript& script, std::vector<std::string> keys,
                                         std::vector<std::string> arguments) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::int64_t code = 0;
    std::int64_t number = 0;
    try {
      const auto reply = co_await commands_.run(script, keys, arguments);
      code = reply.items.at(0).integer;
      if (reply.items.size() > 1) number = reply.items[1].integer;
    } catch (const RedisIsAway&) {
      co_return NodeReply{NodeReply::Kind::kAway};
    } catch (const std::exception&) {
      co_return NodeReply{NodeReply::Kind::kLost};
    }
    if (code != kNoEpoch) co_return NodeReply{kindOf(code), number};
    const bool drawn = co_await drawEpoch();
    if (!drawn) break;
  }
  co_return NodeReply{NodeReply::Kind::kNoVote};
}

}  // namespace festa::lock
