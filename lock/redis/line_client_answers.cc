// What a LineClient makes of replies, of their loss and of messages.
#include "lock/redis/line_client.h"

namespace festa::lock {

namespace {

constexpr Millis kLookAgain{50};
constexpr Millis kLookAgainAfterLoss{500};
constexpr std::size_t kSweepHoldsAbove = 10'000;

}  // namespace

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
          if (reply.offered) offers_.offered(c.key, now);
        }
      },
      command);
}

void LineClient::lost(const LineCommand& command, bool sent, SteadyTime now, Actions& actions) {
  std::visit([&](const auto& c) { onLoss(c, sent, now, actions); }, command);
}

void LineClient::take(const LineReply::Grant& grant, const LockKey& key, SteadyTime sent,
                      Actions& actions) {
  const auto waiter = ours(grant.ticket);
  if (!waiter) return;
  const auto* const waiting = waiters_.find(*waiter);
  if (!waiting) {
    if (!held_.contains(*waiter)) decline(grant.ticket, key, actions);
    return;
  }
  const auto lease = waiting->lease;
  const auto validUntil = sent + lease - driftMargin(lease);
  remove(*waiter);
  // Holders that never give back are few; their entries may stay a while.
  if (held_.size() > kSweepHoldsAbove)
    std::erase_if(held_, [sent](const auto& hold) { return hold.second < sent; });
  held_[*waiter] = validUntil;
  abandon(key, shared_.begin(key, grant, lease, sent));
  actions.push_back(Granted{*waiter, Lease{key, grant.ticket, grant.fence, validUntil}});
}

// The server has it in line (or offers it the key).
void LineClient::inLine(WaiterId waiter, Waiting& waiting, const LineReply& reply, SteadyTime now,
                        Actions& actions) {
  const bool isOffered =
      waiting.state == State::kOffered || reply.holder == ticketOf(waiter, waiting.lease);
  waiting.state = State::kInLine;
  waiting.stood = true;
  heartbeat_.start(now);
  if (isOffered) confirm(waiter, waiting, actions);
}

void LineClient::standAgain(const std::set<WaiterId>& waiters, Actions& actions) {
  for (const auto waiter : waiters) {
    auto& waiting = *waiters_.find(waiter);
    if (waiting.state == State::kInLine) ask(waiter, waiting, actions);
  }
}

void LineClient::watch(const LockKey& key, const LineReply& reply, SteadyTime now) {
  if (!waiters_.lineOf(key)) return;
  if (!reply.holder.empty() && reply.remaining)
    looks_.setEarlier(key, now + *reply.remaining + kLookMargin);
  // Nobody has it, or the look that a brief step relied on has begun meanwhile.
  else if (reply.holder.empty() || !looks_.contains(key))
    looks_.setEarlier(key, now + kLookAgain);
}

// The lost reply may have been somebody's grant.
void LineClient::lookSoon(const LockKey& key, SteadyTime now) {
  if (waiters_.lineOf(key)) looks_.setEarlier(key, now + kLookAgain);
}

// `mayStand`: the server may have the ticket in line or offer it the key.
void LineClient::giveUp(const LockKey& key, const std::string& ticket, bool sent, bool mayStand,
                        Actions& actions) {
  const auto waiter = ours(ticket);
  const auto* const waiting = waiters_.find(*waiter);
  // Granted by another reply meanwhile: the loss is no loss.
  if (!waiting && held_.contains(*waiter)) return;
  // Who was cancelled while asking has not left its place.
  if (!waiting || waiting->stood) mayStand = true;
  if (waiting) {
    remove(*waiter);
    actions.push_back(Broken{*waiter});
  }
  if (sent || mayStand) abandoned_.add(key, ticket, sent);
}

void LineClient::onReply(const ArriveCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  const auto waiter = ours(c.ticket);
  auto* const waiting = waiters_.find(*waiter);
  if (!waiting) {
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
  inLine(*waiter, *waiting, reply, now, actions);
}

void LineClient::onReply(const LeaveCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  if (c.next.empty()) return;
  const auto next = ours(c.next);
  auto* const waiting = waiters_.find(*next);
  if (!waiting) {
    if (!held_.contains(*next)) decline(c.next, c.key, actions);
    return;
  }
  if (reply.verdict == LineVerdict::kYes)
    inLine(*next, *waiting, reply, now, actions);
  else
    ask(*next, *waiting, actions);  // there was nothing to inherit
}

void LineClient::onReply(const AbandonCommand& c, const LineReply&, SteadyTime now, Actions&) {
  abandoned_.answered(c, now);
}

void LineClient::onReply(const ConfirmCommand& c, const LineReply& reply, SteadyTime,
                         Actions& actions) {
  if (reply.verdict == LineVerdict::kNo) ++offersMissed_;
  const auto waiter = ours(c.ticket);
  auto* const waiting = waiters_.find(*waiter);
  if (waiting)
    ask(*waiter, *waiting, actions);
  else if (reply.verdict == LineVerdict::kYes && !held_.contains(*waiter))
    decline(c.ticket, c.key, actions);
}

void LineClient::onReply(const LookCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  if (c.ticket.empty()) return offers_.looked(c.key, reply.unfinished, now);
  auto* const line = waiters_.lineOf(c.key);
  if (!line) return;
  line->looking = false;
  if (const auto holder = ours(reply.holder)) {
    auto* const waiting = waiters_.find(*holder);
    if (waiting && waiting->state == State::kInLine) confirm(*holder, *waiting, actions);
  }
  if (reply.verdict == LineVerdict::kNo) standAgain(line->waiters, actions);
  if (reply.unfinished) look(c.key, *line, actions);
}

void LineClient::onReply(const BeatCommand&, const LineReply& reply, SteadyTime, Actions& actions) {
  heartbeat_.ended();
  if (reply.verdict == LineVerdict::kYes) return;
  for (auto& [key, line] : waiters_.lines()) standAgain(line.waiters, actions);
}

void LineClient::onReply(const QuitCommand&, const LineReply&, SteadyTime, Actions&) {}

void LineClient::onLoss(const ArriveCommand& c, bool sent, SteadyTime, Actions& actions) {
  giveUp(c.key, c.ticket, sent, false, actions);
}

void LineClient::onLoss(const LeaveCommand& c, bool sent, SteadyTime now, Actions& actions) {
  // The owner of a lease that is not ours is perhaps no ticket.
  if (ours(c.ticket)) abandoned_.add(c.key, c.ticket, false);
  abandon(c.key, c.followers);
  if (!c.next.empty()) giveUp(c.key, c.next, sent, false, actions);
  lookSoon(c.key, now);
}

void LineClient::onLoss(const AbandonCommand& c, bool, SteadyTime now, Actions&) {
  abandoned_.lost(c, now);
  lookSoon(c.key, now);
}

void LineClient::onLoss(const ConfirmCommand& c, bool sent, SteadyTime, Actions& actions) {
  giveUp(c.key, c.ticket, sent, true, actions);
}

void LineClient::onLoss(const LookCommand& c, bool, SteadyTime now, Actions&) {
  if (c.ticket.empty()) return offers_.lost(c.key, now);
  auto* const line = waiters_.lineOf(c.key);
  if (!line) return;
  line->looking = false;
  looks_.setEarlier(c.key, now + kLookAgainAfterLoss);
}

void LineClient::onLoss(const BeatCommand&, bool, SteadyTime, Actions&) {
  heartbeat_.ended();
}

void LineClient::onLoss(const QuitCommand&, bool, SteadyTime, Actions&) {}

void LineClient::heardEcho(SteadyTime, Actions& actions) {
  // What was said before may have been missed.
  if (heartbeat_.heard()) lookEverywhere(actions);
}

void LineClient::heardOffer(const std::string& ticket, const LockKey& key, SteadyTime now,
                            Actions& actions) {
  heardEcho(now, actions);
  const auto waiter = ours(ticket);
  if (!waiter) return;
  auto* const waiting = waiters_.find(*waiter);
  if (!waiting) {
    if (!held_.contains(*waiter)) decline(ticket, key, actions);
  } else if (waiting->state == State::kInLine) {
    confirm(*waiter, *waiting, actions);
  } else {
    waiting->state = State::kOffered;
  }
}

}  // namespace festa::lock
