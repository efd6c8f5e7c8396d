#include "lock/redis/line_scripts.h"

namespace festa::lock {

namespace {

// KEYS hold, fence; the other names are made from ARGV: prefix, process, key, ticket, …
//   hold      owner of the hold, or who it is offered to; expires with the lease or the offer
//   offer     who has not confirmed yet; found without a hold it is a missed offer
//   line      tickets in order of arrival
//   alive:…   one per process with waiters
// Order is a counter, not a time: clocks may jump.
// A call of redis.call costs more than what it does: what one has told is not asked again, and the
// usual steps (a free key, a place in a long line, one's own next in line) are done before the
// functions for all others are made.
const std::string kHead = R"(
local hold, fence = KEYS[1], KEYS[2]
local prefix, me, key, ticket = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local line, offer = prefix .. ':line:' .. key, prefix .. ':offer:' .. key
local found = redis.call('MGET', hold, fence, offer)
local holder, hasEpoch, missed = found[1], found[2], found[3]
local function processOf(t) return string.match(t, '^[^:]*') end
local function leaseOf(t) return string.match(t, '[^:]*$') end
)";

const std::string kFunctions = R"(
local granted, token, offered, unfinished = '', 0, 0, 0

local function alive(process) return prefix .. ':alive:' .. process end

local function give(t)
  redis.call('SET', hold, t, 'PX', leaseOf(t))
  granted, token, holder = t, redis.call('INCR', fence), t
end

local function stand(t)
  redis.call('ZADD', line, 'NX', redis.call('INCR', prefix .. ':arrivals'), t)
  redis.call('SET', alive(me), 1, 'PX', )" +
                               std::to_string(kAliveTime.count()) + R"()
end

-- Nobody has the key, or who has it leaves: it goes to the first in line whose process is alive.
local function serve(first)
  if missed then
    redis.call('DEL', offer)
    if processOf(missed) ~= me then redis.call('DEL', alive(processOf(missed))) end
    missed = false
  end
  for _ = 1, )" + std::to_string(kDeadPerStep) +
                               R"( do
    first = first or redis.call('ZPOPMIN', line)[1]
    if not first then return end
    local process = processOf(first)
    if process == me then return give(first) end
    if redis.call('EXISTS', alive(process)) == 1 then
      redis.call('SET', hold, first, 'PX', )" +
                               std::to_string(kOfferTime.count()) + R"()
      redis.call('SET', offer, first, 'PX', 60000)
      redis.call('PUBLISH', prefix .. ':wake:' .. process, first .. ' ' .. key)
      offered, holder = 1, first
      return
    end
    first = nil
  end
  unfinished = 1
end

local function answer(verdict, others)
  local remaining = -1
  if granted ~= '' then remaining = tonumber(leaseOf(granted))
  elseif holder then remaining = redis.call('PTTL', hold) end
  return {verdict, granted, token, holder or '', remaining, others or 0, offered, unfinished}
end
)";

// … queue: '1' or '0', brief: '1' or '0'
const RedisScript kArrive(kHead + R"(
if hasEpoch and not holder and redis.call('EXISTS', line) == 0 then
  if missed then redis.call('DEL', offer) end
  local lease = leaseOf(ticket)
  redis.call('SET', hold, ticket, 'PX', lease)
  return {1, ticket, redis.call('INCR', fence), ticket, tonumber(lease), 0, 0, 0}
end
if hasEpoch and holder and holder ~= ticket and ARGV[5] == '1' and ARGV[6] == '1' then
  redis.call('ZADD', line, 'NX', redis.call('INCR', prefix .. ':arrivals'), ticket)
  return {1, '', 0, holder, -1, 0, 0, 0}
end
)" + kFunctions + R"(
if not hasEpoch then
  if ARGV[5] == '1' then stand(ticket) end
  return {-1}
end
if holder == ticket then return answer(1) end
if not holder and ARGV[5] == '0' then
  serve()
  if holder or redis.call('EXISTS', line) == 1 then return answer(0) end
  give(ticket)
  return answer(1)
end
if ARGV[5] == '0' then return answer(0) end
stand(ticket)
if not holder then serve() end
return answer(1)
)");

// … next or '', keep: '1' or '0'
const RedisScript kLeave(kHead + R"(
if not hasEpoch then return {-1} end
local heir, others, first = ARGV[5], 0, nil
local keep = heir ~= '' and ARGV[6] == '1'
if keep then others = redis.call('EXISTS', line) end
if holder == ticket and not missed and (keep or heir == '') then
  if keep then
    first = heir
  else
    first = redis.call('ZPOPMIN', line)[1]
    if not first then
      redis.call('DEL', hold)
      return {1, '', 0, '', -1, 0, 0, 0}
    end
  end
  if processOf(first) == me then
    local lease = leaseOf(first)
    redis.call('SET', hold, first, 'PX', lease)
    return {1, first, redis.call('INCR', fence), first, tonumber(lease), others, 0, 0}
  end
end
)" + kFunctions + R"(
if holder == ticket then
  if missed then redis.call('DEL', offer) end
  missed = false
  if heir ~= '' and (keep or redis.call('EXISTS', line) == 0) then
    give(heir)
    return answer(1, others)
  end
  holder = false
  if heir ~= '' then stand(heir) end
  serve(first)
  if not holder then redis.call('DEL', hold) end
  return answer(1)
end
if redis.call('ZREM', line, ticket) == 1 then return answer(2) end
if not holder then serve() end
return answer(0)
)");

const RedisScript kConfirm(kHead + kFunctions + R"(
if not hasEpoch then return {-1} end
if holder ~= ticket then return answer(0) end
redis.call('DEL', offer)
give(ticket)
return answer(1)
)");

const RedisScript kLook(kHead + kFunctions + R"(
if not hasEpoch then return {-1} end
if not holder then serve() end
if holder == ticket or redis.call('ZSCORE', line, ticket) then return answer(1) end
return answer(0)
)");

// KEYS alive · ARGV channel
const RedisScript kBeat(R"(
local known = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], 1, 'PX', )" +
                        std::to_string(kAliveTime.count()) + R"()
redis.call('PUBLISH', ARGV[1], 'beat')
return {known}
)");

const RedisScript kQuit("redis.call('DEL', KEYS[1]) return {1}");

}  // namespace

LineCall callOf(const LineCommand& command, const RedisKeys& keys, const std::string& process) {
  const auto onKey = [&](const RedisScript& script, const LockKey& key, const std::string& ticket,
                         std::vector<std::string> more = {}) {
    LineCall call{script, {keys.hold(key), keys.fence()}, {keys.storage(), process, key, ticket}};
    for (auto& argument : more) call.arguments.push_back(std::move(argument));
    return call;
  };
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  struct Render {
    const decltype(onKey)& on;
    const decltype(flag)& flagOf;
    const RedisKeys& keys;
    const std::string& process;

    LineCall operator()(const ArriveCommand& c) const {
      return on(kArrive, c.key, c.ticket, {flagOf(c.queue), flagOf(c.brief)});
    }
    LineCall operator()(const LeaveCommand& c) const {
      return on(kLeave, c.key, c.ticket, {c.next, flagOf(c.keep)});
    }
    LineCall operator()(const ConfirmCommand& c) const { return on(kConfirm, c.key, c.ticket); }
    LineCall operator()(const LookCommand& c) const { return on(kLook, c.key, c.ticket); }
    LineCall operator()(const BeatCommand&) const {
      return {kBeat, {keys.alive(process)}, {keys.wake(process)}};
    }
    LineCall operator()(const QuitCommand&) const { return {kQuit, {keys.alive(process)}, {}}; }
  };
  return std::visit(Render{onKey, flag, keys, process}, command);
}

LineReply replyOf(const RedisReply& reply) {
  const auto& items = reply.items;
  LineReply parsed;
  const auto verdict = items.at(0).integer;
  parsed.verdict = verdict == -1  ? LineVerdict::kNoEpoch
                   : verdict == 0 ? LineVerdict::kNo
                   : verdict == 1 ? LineVerdict::kYes
                                  : LineVerdict::kLeftLine;
  if (items.size() < 8) return parsed;
  if (!items[1].text.empty()) parsed.grant = {items[1].text, items[2].integer};
  parsed.holder = items[3].text;
  if (items[4].integer >= 0) parsed.remaining = Millis{items[4].integer};
  parsed.others = items[5].integer == 1;
  parsed.offered = items[6].integer == 1;
  parsed.unfinished = items[7].integer == 1;
  return parsed;
}

std::optional<Offer> offerOf(const std::string& message) {
  const auto space = message.find(' ');
  if (space == message.npos) return std::nullopt;
  return Offer{message.substr(0, space), message.substr(space + 1)};
}

}  // namespace festa::lock
