#include "lock/redis/line_scripts.h"

namespace festa::lock {

namespace {

// KEYS hold, fence; the other names are made from ARGV: prefix, process, key, step, step, …
//   hold      owner of the hold, or who it is offered to; expires with the lease or the offer
//   offer     who has not confirmed yet; found without a hold it is a missed offer
//   line      tickets in order of arrival
//   alive:…   one per process with waiters
// Order is a counter, not a time: clocks may jump.
// A step is a letter, its ticket and, after a space, the ticket that is to follow:
//   a  arrive, take it or go · q  arrive, take it or queue · b  the same, briefly
//   l  leave · n  leave, named who follows · k  the same, and that one keeps it
//   c  confirm · o  look
// Answers one list per step: verdict, granted ticket, token, others, holder, remaining, offered,
// unfinished. The usual ones are short: nobody holds it when no ticket is named, the granted one
// when no holder is.
// A call of redis.call costs more than what it does: what one has told is not asked again, and the
// usual steps (a free key, a place in a long line, one's own next in line) are done before the
// functions for all others are made.
const RedisScript kSteps(R"(
local hold, fence = KEYS[1], KEYS[2]
local prefix, me, key = ARGV[1], ARGV[2], ARGV[3]
local line, offer = prefix .. ':line:' .. key, prefix .. ':offer:' .. key
local call, match = redis.call, string.match
local found = call('MGET', hold, fence, offer)
local holder, hasEpoch, missed = found[1], found[2], found[3]
local answers = {}

for i = 4, #ARGV do
  local what, ticket = string.sub(ARGV[i], 1, 1), string.sub(ARGV[i], 2)
  local arrives = what == 'a' or what == 'q' or what == 'b'
  local heir, first, takes, others, done = nil, nil, nil, 0, nil
  if what == 'n' or what == 'k' then ticket, heir = match(ticket, '^(.*) (.*)$') end

  if hasEpoch and what == 'b' and holder and holder ~= ticket then
    call('ZADD', line, 'NX', call('INCR', prefix .. ':arrivals'), ticket)
    done = {1, '', 0, 0, holder}
  elseif hasEpoch and what == 'l' and holder == ticket and not missed then
    first = call('ZPOPMIN', line)[1]
    if not first then
      call('DEL', hold)
      holder = false
      done = {1}
    elseif match(first, '^[^:]*') == me then
      takes = first
    end
  elseif hasEpoch and what == 'k' and holder == ticket then
    others = call('EXISTS', line)
    if not missed then takes = heir end
  elseif hasEpoch and arrives and not holder and call('EXISTS', line) == 0 then
    if missed then call('DEL', offer) end
    missed = false
    takes = ticket
  end
  if takes then
    call('SET', hold, takes, 'PX', match(takes, ':(%d+)$'))
    holder = takes
    done = {1, takes, call('INCR', fence), others}
  end

  if not done then
    local granted, token, offered, unfinished = '', 0, 0, 0
    local function processOf(t) return match(t, '^[^:]*') end
    local function leaseOf(t) return match(t, ':(%d+)$') end
    local function alive(process) return prefix .. ':alive:' .. process end

    local function give(t)
      call('SET', hold, t, 'PX', leaseOf(t))
      granted, token, holder = t, call('INCR', fence), t
    end

    local function stand(t)
      call('ZADD', line, 'NX', call('INCR', prefix .. ':arrivals'), t)
      call('SET', alive(me), 1, 'PX', )" +
                         std::to_string(kAliveTime.count()) + R"()
    end

    -- Nobody has the key, or who has it leaves: it goes to the first in line whose process is alive.
    local function serve()
      if missed then
        call('DEL', offer)
        if processOf(missed) ~= me then call('DEL', alive(processOf(missed))) end
        missed = false
      end
      for _ = 1, )" + std::to_string(kDeadPerStep) +
                         R"( do
        first = first or call('ZPOPMIN', line)[1]
        if not first then return end
        local process = processOf(first)
        if process == me then return give(first) end
        if call('EXISTS', alive(process)) == 1 then
          call('SET', hold, first, 'PX', )" +
                         std::to_string(kOfferTime.count()) + R"()
          call('SET', offer, first, 'PX', 60000)
          call('PUBLISH', prefix .. ':wake:' .. process, first .. ' ' .. key)
          offered, holder, missed = 1, first, first
          return
        end
        first = nil
      end
      unfinished = 1
    end

    local function arrive()
      if holder == ticket then return 1 end
      if what ~= 'a' then stand(ticket) end
      if not holder then serve() end
      if what ~= 'a' then return 1 end
      if holder or call('EXISTS', line) == 1 then return 0 end
      give(ticket)
      return 1
    end

    local function leave()
      if holder ~= ticket then
        if call('ZREM', line, ticket) == 1 then return 2 end
        if not holder then serve() end
        return 0
      end
      if missed then call('DEL', offer) end
      missed = false
      if heir and (what == 'k' or call('EXISTS', line) == 0) then
        give(heir)
        return 1
      end
      holder = false
      if heir then stand(heir) end
      serve()
      if not holder then call('DEL', hold) end
      return 1
    end

    local function confirm()
      if holder ~= ticket then return 0 end
      call('DEL', offer)
      missed = false
      give(ticket)
      return 1
    end

    local function look()
      if not holder then serve() end
      if holder == ticket or call('ZSCORE', line, ticket) then return 1 end
      return 0
    end

    if hasEpoch then
      local verdict
      if arrives then verdict = arrive()
      elseif what == 'c' then verdict = confirm()
      elseif what == 'o' then verdict = look()
      else verdict = leave() end
      local remaining = -1
      if granted ~= '' then remaining = tonumber(leaseOf(granted))
      elseif holder then remaining = call('PTTL', hold) end
      done = {verdict, granted, token, others, holder or '', remaining, offered, unfinished}
    else
      if arrives and what ~= 'a' then stand(ticket) end
      done = {-1}
    end
  end
  answers[i - 3] = done
end
return answers
)");

// KEYS alive · ARGV channel
const RedisScript kBeat(R"(
local known = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], 1, 'PX', )" +
                        std::to_string(kAliveTime.count()) + R"()
redis.call('PUBLISH', ARGV[1], 'beat')
return {{known}}
)");

// KEYS alive
const RedisScript kQuit("redis.call('DEL', KEYS[1]) return {{1}}");

struct StepText {
  std::string operator()(const ArriveCommand& c) const {
    return (!c.queue ? 'a' : c.brief ? 'b' : 'q') + c.ticket;
  }
  std::string operator()(const LeaveCommand& c) const {
    if (c.next.empty()) return 'l' + c.ticket;
    return (c.keep ? 'k' : 'n') + c.ticket + ' ' + c.next;
  }
  std::string operator()(const ConfirmCommand& c) const { return 'c' + c.ticket; }
  std::string operator()(const LookCommand& c) const { return 'o' + c.ticket; }
  std::string operator()(const auto&) const { throw std::logic_error("not about a key"); }
};

LineReply replyOf(const RedisReply& answer) {
  const auto& items = answer.items;
  const auto number = [&](std::size_t at) { return at < items.size() ? items[at].integer : 0; };
  LineReply reply;
  const auto verdict = items.at(0).integer;
  reply.verdict = verdict == -1  ? LineVerdict::kNoEpoch
                  : verdict == 0 ? LineVerdict::kNo
                  : verdict == 1 ? LineVerdict::kYes
                                 : LineVerdict::kLeftLine;
  if (items.size() > 2 && !items[1].text.empty()) {
    reply.grant = {items[1].text, items[2].integer};
    reply.holder = items[1].text;
    reply.remaining = Ticket::parse(reply.holder).value().lease;
  }
  if (items.size() > 4) reply.holder = items[4].text;
  if (items.size() > 5)
    reply.remaining = number(5) >= 0 ? std::optional(Millis{number(5)}) : std::nullopt;
  reply.others = number(3) == 1;
  reply.offered = number(6) == 1;
  reply.unfinished = number(7) == 1;
  return reply;
}

}  // namespace

LineCall callOf(std::span<const LineCommand> steps, const RedisKeys& keys,
                const std::string& process) {
  if (std::holds_alternative<BeatCommand>(steps[0]))
    return {kBeat, {keys.alive(process)}, {keys.wake(process)}};
  if (std::holds_alternative<QuitCommand>(steps[0])) return {kQuit, {keys.alive(process)}, {}};
  const auto& key = *keyOf(steps[0]);
  LineCall call{kSteps, {keys.hold(key), keys.fence()}, {keys.storage(), process, key}};
  call.arguments.reserve(3 + steps.size());
  for (const auto& step : steps) call.arguments.push_back(std::visit(StepText{}, step));
  return call;
}

std::vector<LineReply> repliesOf(const RedisReply& reply) {
  std::vector<LineReply> replies;
  replies.reserve(reply.items.size());
  for (const auto& answer : reply.items) replies.push_back(replyOf(answer));
  return replies;
}

std::optional<Offer> offerOf(const std::string& message) {
  const auto space = message.find(' ');
  if (space == message.npos) return std::nullopt;
  return Offer{message.substr(0, space), message.substr(space + 1)};
}

}  // namespace festa::lock
