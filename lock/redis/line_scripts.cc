#include "lock/redis/line_scripts.h"

namespace festa::lock {

namespace {

// KEYS fence; the other names are made from ARGV: prefix, process, step, step, …
//   hold      owner of the hold, or who it is offered to; expires with the lease or the offer
//   offer     who has not confirmed yet; found without a hold it is a missed offer
//   line      tickets in order of arrival
//   alive:…   one per process with waiters
// Order is a counter, not a time: clocks may jump.
// A step is a letter, its ticket, the ticket that is named to follow, if any, and the key, with
// spaces between; a ticket that leaves may have others with it, with commas between. Steps about
// one key come one after the other:
//   a  arrive, take it or go · q  arrive, take it or queue · b  the same, briefly
//   l  leave · n  leave, named who follows · k  the same, and that one keeps it
//   c  confirm · o  look
// Answers one list per step: verdict, granted ticket with its followers, token, others, holder,
// remaining, offered, unfinished. The usual ones are short: nobody holds it when no ticket is
// named, the granted one when no holder is; a verdict alone is no list, nor is a token alone, which
// the ticket that arrives got.
//
// A call of redis.call costs more than what it does: what one has told is not asked again, what is
// the same for all keys is asked once, and the usual steps (a free key, a place in a long line,
// one's own next in line) are done before the functions for all others are made.
const RedisScript kSteps(R"(
local fence, prefix, me = KEYS[1], ARGV[1], ARGV[2]
local call, match = redis.call, string.match
local steps, names, lines = {}, {fence}, {}
local key
for i = 3, #ARGV do
  local what, ticket, about = match(ARGV[i], '^(.)(%S*) (.*)$')
  local heir
  if what == 'n' or what == 'k' then heir, about = match(about, '^(%S*) (.*)$') end
  local arrives = what == 'a' or what == 'q' or what == 'b'
  local isNew = about ~= key
  if isNew then
    key = about
    names[#names + 1] = prefix .. ':hold:' .. key
    names[#names + 1] = prefix .. ':offer:' .. key
    lines[#lines + 1] = prefix .. ':line:' .. key
  end
  steps[i - 2] = {what, ticket, heir, arrives, isNew and key}
end
local found = call('MGET', unpack(names))
local hasEpoch = found[1]

-- Many keys at once are usually many free ones: their lines are looked for and their tokens drawn
-- together.
local nobodyWaits = #lines > 1 and call('EXISTS', unpack(lines)) == 0
local drawn, last = 0, 0
if nobodyWaits and hasEpoch then
  local at = 1
  for _, step in ipairs(steps) do
    if step[5] then
      at = at + 2
      if step[4] and not found[at - 1] then drawn = drawn + 1 end
    end
  end
  if drawn > 0 then last = call('INCRBY', fence, drawn) end
end
local function nextToken()
  if drawn == 0 then return call('INCR', fence) end
  drawn = drawn - 1
  return last - drawn
end

local mine = me .. ':'
local function isMine(one) return string.sub(one, 1, #mine) == mine end

local hold, offer, line, holder, missed, nobodyInLine, isGone
local answers, gone, at, stoodUntil = {}, {}, 0, 0
for i, step in ipairs(steps) do
  local what, ticket, heir, arrives = step[1], step[2], step[3], step[4]
  if step[5] then
    if isGone then gone[#gone + 1] = hold end
    at = at + 1
    key, hold, offer, line = step[5], names[2 * at], names[2 * at + 1], lines[at]
    holder, missed, nobodyInLine, isGone = found[2 * at], found[2 * at + 1], nobodyWaits, false
  end
  local first, takes, followers, others, done = nil, nil, {}, 0, nil
  if hasEpoch and not arrives and string.find(ticket, ',', 1, true) then
    local past = {}
    for one in string.gmatch(ticket, '[^,]+') do past[#past + 1] = one end
    ticket = table.remove(past, 1)
    call('ZREM', line, unpack(past))
    for _, one in ipairs(past) do
      if one == holder then ticket = one end
    end
  end

  if hasEpoch and what == 'b' and holder and holder ~= ticket then
    -- All who do the same next, too.
    local places = {}
    while i > stoodUntil and steps[i + #places / 2] do
      local also = steps[i + #places / 2]
      if #places > 0 and (also[1] ~= 'b' or also[2] == holder or also[5]) then break end
      places[#places + 1] = 0
      places[#places + 1] = also[2]
    end
    if #places > 0 then
      stoodUntil = i + #places / 2 - 1
      local order = call('INCRBY', prefix .. ':arrivals', #places / 2) - #places / 2
      for n = 1, #places, 2 do places[n] = order + (n + 1) / 2 end
      call('ZADD', line, 'NX', unpack(places))
    end
    nobodyInLine = false
    done = {1, '', 0, 0, holder}
  elseif hasEpoch and what == 'l' and holder == ticket and not missed then
    first = not nobodyInLine and call('ZPOPMIN', line)[1]
    if not first then
      holder, isGone = false, true
      done = 1
    elseif isMine(first) then
      takes = first
      local lease = match(first, ':%d+$')
      for _, one in ipairs(call('ZRANGE', line, 0, )" +
                         std::to_string(kFollowers - 1) + R"()) do
        if not isMine(one) or string.sub(one, -#lease) ~= lease then break end
        followers[#followers + 1] = one
      end
    end
  elseif hasEpoch and what == 'k' and holder == ticket then
    others = call('EXISTS', line)
    if not missed then takes = heir end
  elseif hasEpoch and arrives and not holder
         and (nobodyInLine or call('EXISTS', line) == 0) then
    if missed then call('DEL', offer) end
    missed = false
    takes = ticket
  end
  if takes then
    call('PSETEX', hold, match(takes, ':(%d+)$'), takes)
    holder, isGone = takes, false
    if arrives then
      done = nextToken()
    elseif #followers == 0 then
      done = {1, takes, nextToken(), others}
    else
      drawn = 0  -- whatever is granted later in this call has a later token
      local token = call('INCRBY', fence, 1 + #followers) - #followers
      done = {1, takes .. ' ' .. table.concat(followers, ' '), token, others}
    end
  end

  if not done then
    local granted, token, offered, unfinished = '', 0, 0, 0
    local function processOf(t) return match(t, '^[^:]*') end
    local function leaseOf(t) return match(t, ':(%d+)$') end
    local function alive(process) return prefix .. ':alive:' .. process end

    local function give(t)
      call('SET', hold, t, 'PX', leaseOf(t))
      granted, token, holder, isGone = t, nextToken(), t, false
    end

    local function stand(t)
      nobodyInLine = false
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
          offered, holder, missed, isGone = 1, first, first, false
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
      isGone = not holder
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
  answers[i] = done
end
if isGone then gone[#gone + 1] = hold end
if #gone > 0 then call('DEL', unpack(gone)) end
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

// Tokens begin with their epoch, and that with 1.
constexpr std::int64_t kLeastToken = std::int64_t{1} << 32;

struct StepText {
  std::string operator()(const ArriveCommand& c) const {
    return text(!c.queue ? 'a' : c.brief ? 'b' : 'q', {c.ticket, c.key});
  }
  std::string operator()(const LeaveCommand& c) const {
    std::string tickets = c.ticket;
    for (const auto& follower : c.followers) tickets.append(1, ',').append(follower);
    if (c.next.empty()) return text('l', {tickets, c.key});
    return text(c.keep ? 'k' : 'n', {tickets, c.next, c.key});
  }
  std::string operator()(const AbandonCommand& c) const {
    std::string tickets = "-";  // nobody's
    for (const auto& ticket : c.tickets) tickets.append(1, ',').append(ticket);
    return text('l', {tickets, c.key});
  }
  std::string operator()(const ConfirmCommand& c) const { return text('c', {c.ticket, c.key}); }
  std::string operator()(const LookCommand& c) const { return text('o', {c.ticket, c.key}); }
  std::string operator()(const auto&) const { throw std::logic_error("not about a key"); }

 private:
  static std::string text(char what, std::initializer_list<std::string_view> words) {
    std::size_t size = 0;
    for (const auto word : words) size += 1 + word.size();
    std::string step;
    step.reserve(size);
    for (const auto word : words) {
      step += step.empty() ? what : ' ';
      step += word;
    }
    return step;
  }
};

std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

LineVerdict verdictOf(std::int64_t number) {
  switch (number) {
    case -1: return LineVerdict::kNoEpoch;
    case 0: return LineVerdict::kNo;
    case 1: return LineVerdict::kYes;
    default: return LineVerdict::kLeftLine;
  }
}

LineReply replyOf(const RedisReply& answer, const LineCommand& step) {
  const auto& items = answer.items;
  if (items.empty() && answer.integer >= kLeastToken) {
    const auto& ticket = std::get<ArriveCommand>(step).ticket;
    return {.verdict = LineVerdict::kYes,
            .grant = LineReply::Grant{ticket, answer.integer},
            .holder = ticket,
            .remaining = Ticket::parse(ticket).value().lease};
  }
  const auto number = [&](std::size_t at) { return at < items.size() ? items[at].integer : 0; };
  LineReply reply;
  reply.verdict = verdictOf(items.empty() ? answer.integer : items[0].integer);
  if (items.size() > 2 && !items[1].text.empty()) {
    auto tickets = wordsOf(items[1].text);
    reply.holder = tickets.front();
    reply.remaining = Ticket::parse(reply.holder).value().lease;
    tickets.erase(tickets.begin());
    reply.grant = {reply.holder, items[2].integer, std::move(tickets)};
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
  LineCall call{kSteps, {keys.fence()}, {keys.storage(), process}};
  call.arguments.reserve(2 + steps.size());
  for (const auto& step : steps) call.arguments.push_back(std::visit(StepText{}, step));
  return call;
}

std::vector<LineReply> repliesOf(const RedisReply& reply, std::span<const LineCommand> steps) {
  std::vector<LineReply> replies;
  replies.reserve(reply.items.size());
  for (std::size_t i = 0; i < reply.items.size(); ++i)
    replies.push_back(replyOf(reply.items[i], steps[i]));
  return replies;
}

std::optional<Offer> offerOf(const std::string& message) {
  const auto space = message.find(' ');
  if (space == message.npos) return std::nullopt;
  return Offer{message.substr(0, space), message.substr(space + 1)};
}

}  // namespace festa::lock
