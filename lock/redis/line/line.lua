-- Steps of one process in the lines for locks, one atomic call; see line_protocol.h for what they mean.
--
-- KEYS fence; the other names are made from ARGV: prefix, process, how long a process is alive, how
-- long an offer lasts, how long a missed one is known, shortest and longest lease that is granted by
-- message (all in ms), most places of dead processes per step; then step, step, …
--   hold      the ticket that holds the key or is offered it; expires with the lease or the offer
--   offer     the ticket that has not confirmed yet; found without a hold it is a missed offer
--   line      tickets in the order of arrival. Order is a counter, not a time: clocks may jump
--   alive:…   one for each process with waiters: 'r' and the number of its last beat where the process is
--             ready, anything else where it wants offers (earlier versions say 1)
-- A step is a letter, its ticket, for l, n, k and c the numbers of Following with a comma between, for n
-- and k the ticket of who is next, and the key, with spaces between. A ticket that leaves may have others
-- with it, with commas between. Steps about one key come one after the other:
--   a  arrive, take it or go · q  arrive, take it or queue · b  the same, briefly
--   l  leave · n  leave, named who is next · k  the same, and that one keeps it
--   c  confirm · o  look
-- Answers a list for each step: verdict, granted ticket with its followers, token, holder, remaining ms,
-- others, offered, unfinished. What is left out at the end is 0 or empty; a granted ticket is the holder.
--
-- A redis.call costs 0.5 to 1 µs besides what it does: what is known is not asked again.
local fence, prefix, me = KEYS[1], ARGV[1], ARGV[2]
local aliveTime, offerTime, missedTime = ARGV[3], ARGV[4], ARGV[5]
local shortestReady, longestReady, deadPerStep = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local kFirstStep = 9
local call, match, sub = redis.call, string.match, string.sub

-- Of each step: letter, ticket, key if it is another one than before, next ticket, named, unnamed.
local steps, names, lines = {}, {fence}, {}
do
  local before
  for i = kFirstStep, #ARGV do
    local what, ticket, about = match(ARGV[i], '^(.)(%S*) (.*)$')
    local named, unnamed, heir
    if what == 'l' or what == 'c' then
      named, unnamed, about = match(about, '^(%d+),(%d+) (.*)$')
    elseif what == 'n' or what == 'k' then
      named, unnamed, heir, about = match(about, '^(%d+),(%d+) (%S*) (.*)$')
    end
    local isNew = about ~= before
    if isNew then
      before = about
      names[#names + 1] = prefix .. ':hold:' .. about
      names[#names + 1] = prefix .. ':offer:' .. about
      lines[#lines + 1] = prefix .. ':line:' .. about
    end
    steps[i - kFirstStep + 1] = {what, ticket, isNew and about, heir, named or '0', unnamed or 0}
  end
end
local found = call('MGET', unpack(names))
local hasEpoch = found[1]

-- Of the key that a step is about.
local key, hold, offer, line
local holder  -- has the key or is offered it; false: no ticket
local missed  -- has not confirmed an offer; false: no ticket
local isEmpty  -- the line is empty; false: not known
local isGone  -- the hold is to be deleted
-- Of the step.
local what, ticket, heir, named, unnamed
local granted, token, others, offered, unfinished

-- Free keys, as many as were asked for at once: one EXISTS for all lines and one INCRBY for all tokens.
-- Twelve keys take 40 µs with it, 46 without.
local isEverywhereEmpty = #lines > 1 and call('EXISTS', unpack(lines)) == 0
local drawn, last = 0, 0
if isEverywhereEmpty and hasEpoch then
  local at = 0
  for _, one in ipairs(steps) do
    if one[3] then
      at = at + 1
      local arrives = one[1] == 'a' or one[1] == 'q' or one[1] == 'b'
      if arrives and not found[2 * at] then drawn = drawn + 1 end
    end
  end
  if drawn > 0 then last = call('INCRBY', fence, drawn) end
end
-- The first of so many tokens in a row.
local function tokens(count)
  if count == 1 and drawn > 0 then
    drawn = drawn - 1
    return last - drawn
  end
  drawn = 0  -- whatever is granted later in this call has a later token
  return call('INCRBY', fence, count) - count + 1
end

local function stand(tickets)
  isEmpty = false
  local places = {}
  local order = call('INCRBY', prefix .. ':arrivals', #tickets) - #tickets
  for n, one in ipairs(tickets) do
    places[2 * n - 1] = order + n
    places[2 * n] = one
  end
  call('ZADD', line, 'NX', unpack(places))
end

local stoodUntil = 0
-- The process knows when to look at the key. Its next waiters who do the same take their places with the
-- same ZADD: a call with eight of them takes 71 µs, 82 without.
local function standBriefly(at)
  if at <= stoodUntil then return end
  local tickets = {}
  for i = at, #steps do
    local one = steps[i]
    if i > at and (one[1] ~= 'b' or one[2] == holder or one[3]) then break end
    tickets[#tickets + 1] = one[2]
  end
  stoodUntil = at + #tickets - 1
  stand(tickets)
end

-- What answers a step. Made when it is needed: a key that is taken and given back while no other ticket wants
-- it is done below without it, in 10 instead of 13 µs.
local function makeRules()
  local mine = me .. ':'
  local function isMine(one) return sub(one, 1, #mine) == mine end
  local function leaseOf(one) return match(one, ':(%d+)$') end
  local function processOf(one) return match(one, '^[^:]*') end
  local function alive(process) return prefix .. ':alive:' .. process end
  local function isLineEmpty() return isEmpty or call('EXISTS', line) == 0 end

  local function forgetOffer()
    if missed then call('DEL', offer) end
    missed = false
  end

  local function hand(to)
    call('PSETEX', hold, leaseOf(to), to)
    holder, isGone = to, false
  end

  local function give(to)
    hand(to)
    granted = to
    local more = unnamed
    if named ~= '0' and not isEmpty then
      local followers, sameLease = {to}, ':' .. leaseOf(to)
      for _, one in ipairs(call('ZRANGE', line, 0, named - 1)) do
        if not isMine(one) or sub(one, -#sameLease) ~= sameLease then break end
        followers[#followers + 1] = one
      end
      more = more + #followers - 1
      granted = table.concat(followers, ' ')
    end
    token = tokens(1 + more)
  end

  local function standAlive(one)
    stand({one})
    if call('PEXPIRE', alive(me), aliveTime) == 0 then call('SET', alive(me), 0, 'PX', aliveTime) end
  end

  -- A process that is ready has the key by the message alone; it counts its lease from before its beat.
  -- Where its own tickets are next it is offered the key: a confirmation begins a whole lease for all of
  -- them, and is paid once for the run.
  local function mayHave(first, process)
    local lease = tonumber(leaseOf(first))
    if lease < shortestReady or lease > longestReady then return false end
    local second = call('ZRANGE', line, 0, 0)[1]
    return not second or processOf(second) ~= process
  end

  local function wake(first, process, life)
    local text = first
    local beat = match(life, '^r(%d+)$')
    offered = 1
    if beat and mayHave(first, process) then
      hand(first)
      text = '! ' .. first .. ' ' .. string.format('%.0f', tokens(1)) .. ' ' .. beat
    else
      call('PSETEX', hold, offerTime, first)
      call('PSETEX', offer, missedTime, first)
      holder, missed, isGone = first, first, false
    end
    call('PUBLISH', prefix .. ':wake:' .. process, text .. ' ' .. key)
  end

  -- The key is free, or its holder leaves: it goes to the first in line whose process is alive.
  local function serve()
    holder = false
    if missed then
      call('DEL', offer)
      if not isMine(missed) then call('DEL', alive(processOf(missed))) end
      missed = false
    end
    for _ = 1, deadPerStep do
      local first = not isEmpty and call('ZPOPMIN', line)[1]
      if not first then return end
      if isMine(first) then return give(first) end
      local process = processOf(first)
      local life = call('GET', alive(process))
      if life then return wake(first, process, life) end
    end
    unfinished = 1
  end

  local function arrive()
    if holder == ticket then return 1 end
    if not holder and isLineEmpty() then
      forgetOffer()
      give(ticket)
      return 1
    end
    if what ~= 'a' then standAlive(ticket) end
    if not holder then serve() end
    if what ~= 'a' then return 1 end
    if holder or not isLineEmpty() then return 0 end
    give(ticket)
    return 1
  end

  local function leave()
    if string.find(ticket, ',', 1, true) then
      local past = {}
      for one in string.gmatch(ticket, '[^,]+') do past[#past + 1] = one end
      ticket = table.remove(past, 1)
      call('ZREM', line, unpack(past))
      for _, one in ipairs(past) do
        if one == holder then ticket = one end
      end
    end
    if holder ~= ticket then
      if call('ZREM', line, ticket) == 1 then return 2 end
      if not holder then serve() end
      return 0
    end
    forgetOffer()
    if what == 'k' then others = call('EXISTS', line) end
    if heir and (what == 'k' or isLineEmpty()) then
      give(heir)
      return 1
    end
    if heir then standAlive(heir) end
    serve()
    isGone = not holder
    return 1
  end

  return function()
    granted, token, others, offered, unfinished = '', 0, 0, 0, 0
    if not hasEpoch then
      if what == 'q' or what == 'b' then standAlive(ticket) end
      return {-1}
    end
    local said = 0
    if what == 'l' or what == 'n' or what == 'k' then
      said = leave()
    elseif what == 'c' then
      if holder == ticket then
        forgetOffer()
        give(ticket)
        said = 1
      end
    elseif what == 'o' then
      if not holder then serve() end
      if holder == ticket or call('ZSCORE', line, ticket) then said = 1 end
    else
      said = arrive()
    end
    if granted ~= '' then
      if others == 0 then return {said, granted, token} end
      return {said, granted, token, '', 0, others}
    end
    if not holder and unfinished == 0 then return {said} end
    return {said, '', 0, holder or '', holder and call('PTTL', hold) or 0, others, offered, unfinished}
  end
end

local answers, gone, at = {}, {}, 0
local answerTo
for i, step in ipairs(steps) do
  what, ticket, heir, named, unnamed = step[1], step[2], step[4], step[5], step[6]
  if step[3] then
    if isGone then gone[#gone + 1] = hold end
    at = at + 1
    key, hold, offer, line = step[3], names[2 * at], names[2 * at + 1], lines[at]
    holder, missed, isEmpty, isGone = found[2 * at], found[2 * at + 1], isEverywhereEmpty, false
  end
  local arrives = what == 'a' or what == 'q' or what == 'b'
  local isUsual = hasEpoch and not missed and (arrives and not holder or what == 'l' and holder == ticket)
  if isUsual and not isEmpty then isEmpty = call('EXISTS', line) == 0 end
  if hasEpoch and what == 'b' and holder and holder ~= ticket then
    standBriefly(i)
    answers[i] = {1, '', 0, holder}
  elseif not isUsual or not isEmpty then
    answerTo = answerTo or makeRules()
    answers[i] = answerTo()
  elseif arrives then
    call('PSETEX', hold, match(ticket, ':(%d+)$'), ticket)
    holder, isGone = ticket, false
    answers[i] = {1, ticket, tokens(1)}
  else
    holder, isGone = false, true
    answers[i] = {1}
  end
end
if isGone then gone[#gone + 1] = hold end
if #gone > 0 then call('DEL', unpack(gone)) end
return answers
