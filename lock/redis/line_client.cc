#include "lock/redis/line_client.h"

#include <algorithm>

namespace festa::lock {

namespace {

constexpr Millis kBeatEvery{500};
// While messages may be lost, offers are found by looking: more often than they expire.
constexpr Millis kDeafBeatEvery{200};
// Redis ends a key within a millisecond or so of its time.
constexpr Millis kLookMargin{5};
constexpr Millis kLookAgain{50};
constexpr std::size_t kSweepHoldsAbove = 10'000;

}  // namespace

WaiterId LineClient::add(const LockKey& key, Millis lease, bool queue) {
  const auto waiter = ++last_;
  waiting_.emplace(waiter, Waiting{key, lease, queue});
  if (queue) lines_[key].tickets.insert(waiter);
  return waiter;
}

void LineClient::remove(WaiterId waiter) {
  const auto node = waiting_.extract(waiter);
  const auto line = lines_.find(node.mapped().key);
  if (line == lines_.end()) return;
  line->second.tickets.erase(waiter);
  if (!line->second.tickets.empty()) return;
  due_.erase({line->second.lookAt, line->first});
  lines_.erase(line);
}

std::string LineClient::ticketOf(WaiterId waiter, Millis lease) const {
  return Ticket{process_, waiter, lease}.text();
}

std::optional<WaiterId> LineClient::ours(const std::string& text) const {
  const auto ticket = Ticket::parse(text);
  if (!ticket || ticket->process != process_) return std::nullopt;
  return ticket->number;
}

void LineClient::ask(WaiterId waiter, Waiting& waiting, Actions& actions) {
  waiting.asking = true;
  waiting.offered = false;
  const auto line = lines_.find(waiting.key);
  const bool watched = line != lines_.end() && line->second.lookAt != SteadyTime::max();
  send(ArriveCommand{waiting.key, ticketOf(waiter, waiting.lease), waiting.queue,
                     watched && beatAt_.has_value()},
       actions);
}

void LineClient::confirm(WaiterId waiter, Waiting& waiting, Actions& actions) {
  waiting.asking = true;
  waiting.offered = false;
  send(ConfirmCommand{waiting.key, ticketOf(waiter, waiting.lease)}, actions);
}

WaiterId LineClient::arrive(const LockKey& key, Millis lease, bool queue, Actions& actions) {
  const auto waiter = add(key, lease, queue);
  ask(waiter, waiting_.at(waiter), actions);
  return waiter;
}

std::pair<WaiterId, LeaveCommand> LineClient::succeed(const Lease& lease, Millis nextLease,
                                                      bool keep) {
  const auto waiter = add(lease.key, nextLease, true);
  auto leave = leaveOf(lease);
  leave.next = ticketOf(waiter, nextLease);
  leave.keep = keep;
  return {waiter, std::move(leave)};
}

bool LineClient::cancel(WaiterId waiter, Actions& actions) {
  const auto found = waiting_.find(waiter);
  if (found == waiting_.end()) return false;
  const auto waiting = found->second;
  remove(waiter);
  // While an answer is under way, that answer decides what is to be left.
  if (!waiting.asking) decline(ticketOf(waiter, waiting.lease), waiting.key, actions);
  return true;
}

void LineClient::decline(const std::string& ticket, const LockKey& key, Actions& actions) {
  send(LeaveCommand{key, ticket}, actions);
}

LineClient::Run* LineClient::runOf(const Lease& lease) {
  const auto run = runs_.find(lease.key);
  if (run == runs_.end()) return nullptr;
  const auto& past = run->second.past;
  const bool isOne = run->second.leader == lease.owner ||
                     std::find(past.begin(), past.end(), lease.owner) != past.end();
  return isOne ? &run->second : nullptr;
}

LeaveCommand LineClient::leaveOf(const Lease& lease) {
  LeaveCommand leave{lease.key, lease.owner};
  if (auto* const run = runOf(lease)) {
    leave.ticket = run->leader;
    leave.followers = std::move(run->past);
    runsDue_.erase({run->validUntil, lease.key});
    runs_.erase(lease.key);
  }
  if (const auto waiter = ours(leave.ticket)) held_.erase(*waiter);
  return leave;
}

LineClient::GivenBack LineClient::giveBack(const Lease& lease, SteadyTime now) {
  auto* const run = runOf(lease);
  if (run && run->holder != lease.owner) return {};
  while (run && now < run->youngUntil && !run->upcoming.empty()) {
    auto ticket = std::move(run->upcoming.back());
    run->upcoming.pop_back();
    ++run->fence;
    const auto waiter = *ours(ticket);
    const auto found = waiting_.find(waiter);
    if (found == waiting_.end()) continue;  // cancelled
    // It is about to hear from the server itself, and nobody may pass it.
    if (found->second.asking) break;
    remove(waiter);
    run->holder = ticket;
    run->past.push_back(ticket);
    if (run->past.size() == 1) runsDue_.insert({run->validUntil, lease.key});
    return {.next =
                Granted{waiter, Lease{lease.key, std::move(ticket), run->fence, run->validUntil}}};
  }
  return {.leave = leaveOf(lease)};
}

// Nobody has given the hold back in time. It may still be given back, or prolonged.
void LineClient::leavePlacesOf(const LockKey& key, const Run& run) {
  for (const auto& ticket : run.past) abandoned_.add(key, ticket, false);
  runsDue_.erase({run.validUntil, key});
}

void LineClient::leavePlacesOfOldRuns(SteadyTime now) {
  while (!runsDue_.empty() && runsDue_.begin()->first <= now) {
    const auto run = runs_.find(runsDue_.begin()->second);
    leavePlacesOf(run->first, run->second);
  }
}

std::optional<std::string> LineClient::prolonging(const Lease& lease) {
  auto* const run = runOf(lease);
  if (!run) return lease.owner;
  if (run->holder != lease.owner) return std::nullopt;
  // Its fence may become a later one than theirs.
  run->upcoming.clear();
  return run->leader;
}

void LineClient::prolonged(const Lease& lease) {
  auto* const run = runOf(lease);
  if (run) {
    runsDue_.erase({run->validUntil, lease.key});
    run->validUntil = lease.validUntil;
    if (!run->past.empty()) runsDue_.insert({run->validUntil, lease.key});
  }
  const auto waiter = ours(run ? run->leader : lease.owner);
  if (!waiter) return;
  const auto found = held_.find(*waiter);
  if (found != held_.end()) found->second = lease.validUntil;
}

void LineClient::take(const LineReply::Grant& grant, const LockKey& key, SteadyTime sent,
                      Actions& actions) {
  const auto waiter = ours(grant.ticket);
  if (!waiter) return;
  const auto found = waiting_.find(*waiter);
  if (found == waiting_.end()) {
    if (!held_.contains(*waiter)) decline(grant.ticket, key, actions);
    return;
  }
  const auto lease = found->second.lease;
  const auto validUntil = sent + lease - driftMargin(lease);
  remove(*waiter);
  // Holders that never give back are few; their entries may stay a while.
  if (held_.size() > kSweepHoldsAbove)
    std::erase_if(held_, [sent](const auto& hold) { return hold.second < sent; });
  if (runs_.size() > kSweepHoldsAbove)
    std::erase_if(runs_, [&](const auto& run) {
      return run.second.validUntil < sent && !runsDue_.contains({run.second.validUntil, run.first});
    });
  held_[*waiter] = validUntil;
  const auto known = runs_.find(key);
  // A late reply about an earlier hold.
  const bool isPast = known != runs_.end() && known->second.fence > grant.fence;
  if (!isPast && known != runs_.end()) {
    leavePlacesOf(key, known->second);
    runs_.erase(known);
  }
  if (!isPast && !grant.followers.empty())
    runs_[key] = {.leader = grant.ticket,
                  .holder = grant.ticket,
                  .past = {},
                  .upcoming = {grant.followers.rbegin(), grant.followers.rend()},
                  .fence = grant.fence,
                  .validUntil = validUntil,
                  .youngUntil = validUntil - leastFollowerTime(lease)};
  actions.push_back(Granted{*waiter, Lease{key, grant.ticket, grant.fence, validUntil}});
}

void LineClient::replied(const LineCommand& command, const LineReply& reply, SteadyTime sent,
                         SteadyTime now, Actions& actions) {
  std::visit(
      [&](const auto& c) {
        if constexpr (requires { c.key; }) {
          if (reply.grant) take(*reply.grant, c.key, sent, actions);
        }
        onReply(c, reply, now, actions);
        if constexpr (requires { c.key; }) {
          watch(c.key, reply, now);
          if (reply.offered) offered(c.key, now);
        }
      },
      command);
}

// The server has it in line (or offers it the key).
void LineClient::inLine(WaiterId waiter, Waiting& waiting, const LineReply& reply, SteadyTime now,
                        Actions& actions) {
  waiting.asking = false;
  waiting.stood = true;
  if (!beatAt_) {
    // Messages that arrived the last time are trusted to do so again until a beat has no echo.
    beatAt_ = deaf_ ? now : now + kBeatEvery;
    beatAnswered_ = true;
    heardSinceBeat_ = true;
  }
  if (waiting.offered || reply.holder == ticketOf(waiter, waiting.lease))
    confirm(waiter, waiting, actions);
}

void LineClient::onReply(const ArriveCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  const auto waiter = ours(c.ticket);
  const auto found = waiting_.find(*waiter);
  if (found == waiting_.end()) {
    // Granted by this or an earlier reply, or cancelled since.
    const bool nothingToLeave = held_.contains(*waiter) || reply.verdict == LineVerdict::kNo;
    if (!nothingToLeave) decline(c.ticket, c.key, actions);
    return;
  }
  if (reply.verdict == LineVerdict::kNo) {
    remove(*waiter);
    actions.push_back(Busy{*waiter});
    return;
  }
  inLine(*waiter, found->second, reply, now, actions);
}

void LineClient::onReply(const LeaveCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  if (c.next.empty()) return;
  const auto next = ours(c.next);
  const auto found = waiting_.find(*next);
  if (found == waiting_.end()) {
    if (!held_.contains(*next)) decline(c.next, c.key, actions);
    return;
  }
  if (reply.verdict == LineVerdict::kYes)
    inLine(*next, found->second, reply, now, actions);
  else
    ask(*next, found->second, actions);  // there was nothing to inherit
}

void LineClient::onReply(const ConfirmCommand& c, const LineReply& reply, SteadyTime,
                         Actions& actions) {
  if (reply.verdict == LineVerdict::kNo) ++offersMissed_;
  const auto waiter = ours(c.ticket);
  const auto found = waiting_.find(*waiter);
  if (found != waiting_.end())
    ask(*waiter, found->second, actions);
  else if (reply.verdict == LineVerdict::kYes && !held_.contains(*waiter))
    decline(c.ticket, c.key, actions);
}

void LineClient::onReply(const LookCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  if (c.ticket.empty()) return onLookAfterOffer(c, reply, now);
  const auto line = lines_.find(c.key);
  if (line == lines_.end()) return;
  line->second.looking = false;
  const auto holder = ours(reply.holder);
  if (holder) {
    const auto found = waiting_.find(*holder);
    if (found != waiting_.end() && !found->second.asking) confirm(*holder, found->second, actions);
  }
  if (reply.verdict == LineVerdict::kNo) standAgain(line->second.tickets, actions);
  if (reply.unfinished) look(c.key, line->second, actions);
}

void LineClient::onReply(const BeatCommand&, const LineReply& reply, SteadyTime, Actions& actions) {
  beatAnswered_ = true;
  if (reply.verdict == LineVerdict::kYes) return;
  for (auto& [key, line] : lines_) standAgain(line.tickets, actions);
}

void LineClient::standAgain(const std::set<WaiterId>& tickets, Actions& actions) {
  for (const auto waiter : tickets) {
    auto& waiting = waiting_.at(waiter);
    if (!waiting.asking) ask(waiter, waiting, actions);
  }
}

void LineClient::lost(const LineCommand& command, bool sent, SteadyTime now, Actions& actions) {
  std::visit([&](const auto& c) { onLoss(c, sent, now, actions); }, command);
}

// `mayStand`: the server may have the ticket in line or offer it the key.
void LineClient::giveUp(const LockKey& key, const std::string& ticket, bool sent, bool mayStand,
                        Actions& actions) {
  const auto waiter = ours(ticket);
  const auto found = waiting_.find(*waiter);
  // Granted by another reply meanwhile: the loss is no loss.
  if (found == waiting_.end() && held_.contains(*waiter)) return;
  // Who was cancelled while asking has not left its place.
  if (found == waiting_.end() || found->second.stood) mayStand = true;
  if (found != waiting_.end()) {
    remove(*waiter);
    actions.push_back(Broken{*waiter});
  }
  if (sent || mayStand) abandoned_.add(key, ticket, sent);
}

void LineClient::onLoss(const ArriveCommand& c, bool sent, SteadyTime, Actions& actions) {
  giveUp(c.key, c.ticket, sent, false, actions);
}

void LineClient::onLoss(const ConfirmCommand& c, bool sent, SteadyTime, Actions& actions) {
  giveUp(c.key, c.ticket, sent, true, actions);
}

void LineClient::onLoss(const LeaveCommand& c, bool sent, SteadyTime now, Actions& actions) {
  // The owner of a lease that is not ours is perhaps no ticket.
  if (ours(c.ticket)) abandoned_.add(c.key, c.ticket, false);
  for (const auto& follower : c.followers) abandoned_.add(c.key, follower, false);
  if (!c.next.empty()) giveUp(c.key, c.next, sent, false, actions);
  lookSoon(c.key, now);
}

void LineClient::onLoss(const AbandonCommand& c, bool, SteadyTime now, Actions&) {
  abandoned_.lost(c, now);
  lookSoon(c.key, now);
}

// The lost reply may have been somebody's grant.
void LineClient::lookSoon(const LockKey& key, SteadyTime now) {
  const auto line = lines_.find(key);
  if (line != lines_.end()) lookAt(line, now + kLookAgain);
}

void LineClient::onLoss(const LookCommand& c, bool, SteadyTime now, Actions&) {
  if (c.ticket.empty()) {
    if (offers_.contains(c.key)) offersDue_.insert({now + kBeatEvery, c.key});
    return;
  }
  const auto line = lines_.find(c.key);
  if (line == lines_.end()) return;
  line->second.looking = false;
  lookAt(line, now + kBeatEvery);
}

void LineClient::heardEcho(SteadyTime, Actions& actions) {
  heardSinceBeat_ = true;
  if (!deaf_) return;
  deaf_ = false;
  // What was said before may have been missed.
  lookEverywhere(actions);
}

void LineClient::heardOffer(const std::string& ticket, const LockKey& key, SteadyTime now,
                            Actions& actions) {
  heardEcho(now, actions);
  const auto waiter = ours(ticket);
  if (!waiter) return;
  const auto found = waiting_.find(*waiter);
  if (found == waiting_.end()) {
    if (!held_.contains(*waiter)) decline(ticket, key, actions);
  } else if (found->second.asking) {
    found->second.offered = true;
  } else {
    confirm(*waiter, found->second, actions);
  }
}

void LineClient::watch(const LockKey& key, const LineReply& reply, SteadyTime now) {
  const auto line = lines_.find(key);
  if (line == lines_.end()) return;
  if (!reply.holder.empty() && reply.remaining) lookAt(line, now + *reply.remaining + kLookMargin);
  // Nobody has it, or the look that a brief step relied on has begun meanwhile.
  else if (reply.holder.empty() || line->second.lookAt == SteadyTime::max())
    lookAt(line, now + kLookAgain);
}

// The earlier of two times counts: a look too many is cheap.
void LineClient::lookAt(Lines::iterator line, SteadyTime at) {
  if (at >= line->second.lookAt) return;
  due_.erase({line->second.lookAt, line->first});
  line->second.lookAt = at;
  due_.insert({at, line->first});
}

void LineClient::look(const LockKey& key, Line& line, Actions& actions) {
  if (line.looking) return;
  // The first one that the server knows of stands for all.
  for (const auto waiter : line.tickets) {
    const auto& waiting = waiting_.at(waiter);
    if (waiting.asking) continue;
    line.looking = true;
    send(LookCommand{key, ticketOf(waiter, waiting.lease)}, actions);
    return;
  }
}

void LineClient::lookEverywhere(Actions& actions) {
  for (auto& [key, line] : lines_) look(key, line, actions);
}

void LineClient::offered(const LockKey& key, SteadyTime now) {
  const auto [offer, isNew] = offers_.insert_or_assign(key, now);
  // One look at a time for each key, however often it is offered.
  if (isNew) offersDue_.insert({now + kOfferTime + kLookMargin, key});
}

void LineClient::onLookAfterOffer(const LookCommand& c, const LineReply& reply, SteadyTime now) {
  const auto offer = offers_.find(c.key);
  if (offer == offers_.end()) return;
  const auto end = offer->second + kOfferTime + kLookMargin;
  if (reply.unfinished)
    offersDue_.insert({now, c.key});
  else if (end > now)
    offersDue_.insert({end, c.key});  // offered again since
  else
    offers_.erase(offer);
}

void LineClient::tick(SteadyTime now, Actions& actions) {
  leavePlacesOfOldRuns(now);
  for (auto& command : abandoned_.take(now)) send(std::move(command), actions);
  while (!offersDue_.empty() && offersDue_.begin()->first <= now) {
    send(LookCommand{offersDue_.begin()->second, ""}, actions);
    offersDue_.erase(offersDue_.begin());
  }
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto line = lines_.find(due_.begin()->second);
    due_.erase(due_.begin());
    line->second.lookAt = SteadyTime::max();
    look(line->first, line->second, actions);
  }
  if (!beatAt_ || *beatAt_ > now) return;
  if (lines_.empty()) {
    beatAt_.reset();
    return;
  }
  if (!heardSinceBeat_) deaf_ = true;
  if (deaf_) lookEverywhere(actions);
  beatAt_ = now + (deaf_ ? kDeafBeatEvery : kBeatEvery);
  if (!beatAnswered_) return;
  beatAnswered_ = false;
  heardSinceBeat_ = false;
  send(BeatCommand{}, actions);
}

std::optional<SteadyTime> LineClient::nextTick() const {
  std::optional<SteadyTime> next = beatAt_;
  const auto leaveAt = abandoned_.nextAt();
  if (leaveAt && (!next || *leaveAt < *next)) next = leaveAt;
  for (const auto* due : {&due_, &offersDue_, &runsDue_})
    if (!due->empty() && (!next || due->begin()->first < *next)) next = due->begin()->first;
  return next;
}

std::vector<WaiterId> LineClient::dropAll(bool quits, Actions& actions) {
  std::vector<WaiterId> dropped;
  for (const auto& [waiter, waiting] : waiting_) {
    dropped.push_back(waiter);
    // While an answer is under way, that answer decides what is to be left.
    if (!waiting.asking) abandoned_.add(waiting.key, ticketOf(waiter, waiting.lease), false);
  }
  if (quits && !lines_.empty()) send(QuitCommand{}, actions);
  waiting_.clear();
  lines_.clear();
  due_.clear();
  offers_.clear();
  offersDue_.clear();
  for (auto& [key, run] : runs_) run.upcoming.clear();
  beatAt_.reset();
  return dropped;
}

std::size_t LineClient::waiters(const LockKey& key) const {
  const auto line = lines_.find(key);
  return line == lines_.end() ? 0 : line->second.tickets.size();
}

}  // namespace festa::lock
