#include "lock/redis/redlock/redlock_node.h"

#include "lock/redis/until_confirmed.h"

#include <trantor/utils/Logger.h>

namespace festa::lock {

namespace {

// Replies of all scripts: {1, number}: yes · {0}: no · {2, number}: taken by another ·
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

// KEYS hold, fence, token owner · ARGV owner, token, longest lease in ms. The token's owner
// outlives every hold that was taken before it: a later one is handed larger numbers.
const RedisScript kTakeToken(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
if not redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[3])
    and redis.call('GET', KEYS[3]) ~= ARGV[1] then
  return {2, redis.call('INCR', KEYS[2])}
end
local last = redis.call('GET', KEYS[2])
if not last or tonumber(last) < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2]) end
return {1}
)");

// KEYS hold, fence · ARGV owner, lease in ms or '', floor or ''. A counter below the floor is
// raised to it, unlike on a single server (redis_holds.cc): the node may have missed the tokens
// that a majority without it has handed out.
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

NodeReply::Kind kindOf(std::int64_t code) {
  switch (code) {
    case 1: return NodeReply::Kind::kYes;
    case 0: return NodeReply::Kind::kNo;
    case 2: return NodeReply::Kind::kTokenTaken;
    default: return NodeReply::Kind::kNoVote;
  }
}

}  // namespace

RedlockNode::RedlockNode(const RedisClientSource& clients, RedlockKeys keys, EpochSource& epochs,
                         Millis longestLease)
    : commands_(clients),
      keys_(std::move(keys)),
      server_(commands_, keys_, epochs, FencedServer::Home::kNotChecked),
      longestLease_(std::to_string(longestLease.count())) {}

drogon::Task<NodeReply> RedlockNode::take(LockKey key, std::string owner, Millis lease) {
  return ask(kTake,
             {keys_.hold(key), keys_.fence(), keys_.ready(), keys_.began(), keys_.quarantine(),
              keys_.tombstone(owner)},
             {owner, std::to_string(lease.count()), longestLease_});
}

drogon::Task<NodeReply> RedlockNode::takeToken(LockKey key, std::string owner, std::int64_t token) {
  return ask(kTakeToken, {keys_.hold(key), keys_.fence(), keys_.tokenOwner(token)},
             {owner, std::to_string(token), longestLease_});
}

drogon::Task<NodeReply> RedlockNode::extend(LockKey key, std::string owner, Extension extension) {
  return ask(kExtend, {keys_.hold(key), keys_.fence()}, argumentsOf(owner, extension));
}

drogon::Task<NodeReply> RedlockNode::giveBack(LockKey key, std::string owner) {
  return ask(kGiveBack, {keys_.hold(key), keys_.tombstone(owner)}, {owner, longestLease_});
}

void RedlockNode::giveBackUntil(const LockKey& key, const std::string& owner, SteadyTime until) {
  untilConfirmed([this, key, owner] { return isGivenBack(key, owner); }, until);
}

drogon::Task<bool> RedlockNode::isGivenBack(LockKey key, std::string owner) {
  const auto reply = co_await giveBack(key, owner);
  co_return !reply.isFailure();
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

drogon::Task<NodeReply> RedlockNode::ask(const RedisScript& script, std::vector<std::string> keys,
                                         std::vector<std::string> arguments) {
  FencedServer::Answer answer;
  try {
    answer = co_await server_.ask(script, std::move(keys), std::move(arguments));
  } catch (const RedisIsAway&) {
    co_return NodeReply{NodeReply::Kind::kAway};
  } catch (const LockStorageUnavailable&) {
    co_return NodeReply{NodeReply::Kind::kLost};
  } catch (const std::exception& error) {
    LOG_WARN << "a Redlock node gets no epoch: " << error.what();
    co_return NodeReply{NodeReply::Kind::kNoVote};
  }
  const auto& items = answer.reply.items;
  if (items.empty()) co_return NodeReply{NodeReply::Kind::kLost};
  co_return NodeReply{kindOf(items[0].integer), items.size() > 1 ? items[1].integer : 0};
}

}  // namespace festa::lock
