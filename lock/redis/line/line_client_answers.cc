// What a LineClient makes of replies, of their loss and of messages.
#include "lock/redis/line/line_client.h"

#include <algorithm>
#include <iterator>

namespace festa::lock {

namespace {

constexpr Millis kLookAgain{50};
constexpr Millis kLookAgainAfterLoss{500};
constexpr std::size_t kSweepHoldsAbove = 10'000;

}  // namespace

void LineClient::replied(const LineCommand& command, const LineReply& reply, SteadyTime sent,
                         SteadyTime now, Actions& actions) {
  int turns = 1;
  if (const auto* leave = std::get_if<LeaveCommand>(&command); leave && reply.others)
    turns += leave->turns;
  std::visit(
      [&](const auto& c) {
        if constexpr (requires { c.key; }) {
          if (reply.grant) take(*reply.grant, {c.key, turns, sent, now}, actions);
        }
        if constexpr (requires { onReply(c, reply, now, actions); })
          onReply(c, reply, now, actions);
        if constexpr (requires { c.key; }) {
          watch(c.key, reply, now);
          if (reply.offered)
            offers_.offered(c.key, reply.remaining.value_or(kLongestReadyLease), now);
        }
      },
      command);
}

void LineClient::lost(const LineCommand& command, bool sent, SteadyTime now, Actions& actions) {
  std::visit(
      [&](const auto& c) {
        if constexpr (requires { onLoss(c, sent, now, actions); }) onLoss(c, sent, now, actions);
      },
      command);
}

void LineClient::take(const LineReply::Grant& grant, const Granting& how, Actions& actions) {
  const auto ticket = Ticket::parse(grant.ticket);
  if (!ticket || ticket->process != process_) return;
  const auto waiter = waiterOf(ticket->number);
  const auto* const waiting = waiters_.find(waiter);
  if (!waiting) {
    if (!held_.contains(ticket->number)) decline(grant.ticket, how.key, actions);
    return;
  }
  const auto together = waiting->together;
  const auto received = waiting->received == SteadyTime{} ? how.now : waiting->received;
  const auto validUntil = how.sent + ticket->lease - driftMargin(ticket->lease);
  remove(waiter);
  // Holders that never give back are few; their entries may stay a while.
  if (held_.size() > kSweepHoldsAbove)
    std::erase_if(held_, [&](const auto& hold) { return hold.second < how.sent; });
  held_[ticket->number] = validUntil;
  const bool isKept = policy_ == LinePolicy::kPlacePerKey;
  const auto left = shared_.begin(how.key, grant, {ticket->lease, how.sent, isKept, how.turns});
  abandon(how.key, left);
  std::vector<Granted> turn;
  turn.push_back({waiter, Lease(how.key, grant.ticket, grant.fence, validUntil)});
  turn[0].lease.received = received;
  if (together > 1 && shared_.turnOf(turn[0].lease) == SharedHolds::Turn::kNow)
    fillTurn(how.key, together, how.now, turn);
  std::ranges::move(turn, std::back_inserter(actions));
}

// The server has it in line (or offers it the key).
void LineClient::inLine(Waiting& waiting, const LineReply& reply, SteadyTime now,
                        Actions& actions) {
  const bool isOffered = waiting.state == State::kOffered || reply.holder == waiting.ticket;
  waiting.state = State::kInLine;
  waiting.stood = true;
  if (waiting.received == SteadyTime{}) waiting.received = now;
  heartbeat_.start(now);
  if (isOffered) confirm(waiting, actions);
}

void LineClient::standAgain(const WaitingLine& waiters, Actions& actions) {
  for (const auto& place : waiters) {
    auto& waiting = *waiters_.find(place.waiter);
    if (waiting.state == State::kInLine) ask(place.waiter, waiting, actions);
  }
}

void LineClient::watch(const LockKey& key, const LineReply& reply, SteadyTime now) {
  if (!waiters_.lineOf(key)) return;
  if (!reply.holder.empty() && reply.remaining)
    looks_.setEarlier(key, now + *reply.remaining + kLookMargin);
  // The key is free, or the look that a brief step relied on has begun meanwhile.
  else if (reply.holder.empty() || !looks_.contains(key))
    looks_.setEarlier(key, now + kLookAgain);
}

// The lost reply may have been the grant of a waiter.
void LineClient::lookSoon(const LockKey& key, SteadyTime now) {
  if (waiters_.lineOf(key)) looks_.setEarlier(key, now + kLookAgain);
}

// `mayStand`: the server may have the ticket in line or offer it the key.
void LineClient::giveUp(const LockKey& key, const std::string& ticket, bool sent, bool mayStand,
                        Actions& actions) {
  const auto number = *ours(ticket);
  const auto waiter = waiterOf(number);
  const auto* const waiting = waiters_.find(waiter);
  // Granted by another reply meanwhile: the loss is no loss.
  if (!waiting && held_.contains(number)) return;
  // Who was cancelled while asking has not left its place.
  if (!waiting || waiting->stood) mayStand = true;
  if (waiting) {
    remove(waiter);
    actions.push_back(Broken{waiter});
    failThoseHere(key, actions);
  }
  if (sent || mayStand) abandoned_.add(key, ticket, sent);
}

void LineClient::onReply(const ArriveCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  const auto number = *ours(c.ticket);
  const auto waiter = waiterOf(number);
  auto* const waiting = waiters_.find(waiter);
  if (!waiting) {
    // Granted by this or an earlier reply, or cancelled since.
    const bool nothingToLeave = held_.contains(number) || reply.verdict == LineVerdict::kNo;
    if (!nothingToLeave) decline(c.ticket, c.key, actions);
    return;
  }
  if (reply.verdict == LineVerdict::kNo) {
    remove(waiter);
    actions.push_back(Busy{waiter});
    return;
  }
  inLine(*waiting, reply, now, actions);
}

void LineClient::onReply(const LeaveCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  if (c.next.empty()) return;
  const auto number = *ours(c.next);
  const auto next = waiterOf(number);
  auto* const waiting = waiters_.find(next);
  if (!waiting) {
    if (!held_.contains(number)) decline(c.next, c.key, actions);
    return;
  }
  if (reply.verdict == LineVerdict::kYes)
    inLine(*waiting, reply, now, actions);
  else
    ask(next, *waiting, actions);  // there was nothing to inherit
}

void LineClient::onReply(const AbandonCommand& c, const LineReply&, SteadyTime now, Actions&) {
  abandoned_.answered(c, now);
}

void LineClient::onReply(const ConfirmCommand& c, const LineReply& reply, SteadyTime,
                         Actions& actions) {
  if (reply.verdict == LineVerdict::kNo) ++offersMissed_;
  const auto number = *ours(c.ticket);
  const auto waiter = waiterOf(number);
  auto* const waiting = waiters_.find(waiter);
  if (waiting)
    ask(waiter, *waiting, actions);
  else if (reply.verdict == LineVerdict::kYes && !held_.contains(number))
    decline(c.ticket, c.key, actions);
}

void LineClient::onReply(const LookCommand& c, const LineReply& reply, SteadyTime now,
                         Actions& actions) {
  if (c.ticket.empty()) return offers_.looked(c.key, reply.unfinished, now);
  auto* const line = waiters_.lineOf(c.key);
  if (!line) return;
  line->looking = false;
  if (const auto holder = ours(reply.holder)) {
    auto* const waiting = waiters_.find(waiterOf(*holder));
    if (waiting && waiting->state == State::kInLine) confirm(*waiting, actions);
  }
  if (reply.verdict == LineVerdict::kNo) standAgain(line->waiters, actions);
  if (reply.unfinished) look(c.key, *line, now, actions);
}

void LineClient::onReply(const BeatCommand&, const LineReply& reply, SteadyTime, Actions& actions) {
  heartbeat_.ended();
  if (reply.verdict == LineVerdict::kYes) return;
  for (auto& [key, line] : waiters_.lines()) standAgain(line.waiters, actions);
}

void LineClient::onLoss(const ArriveCommand& c, bool sent, SteadyTime, Actions& actions) {
  giveUp(c.key, c.ticket, sent, false, actions);
}

void LineClient::onLoss(const LeaveCommand& c, bool sent, SteadyTime now, Actions& actions) {
  abandoned_.add(c.key, c.ticket, false);
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

void LineClient::heard(const LineMessage& message, SteadyTime now, Actions& actions) {
  // What was said before may have been missed.
  if (heartbeat_.heard()) lookEverywhere(now, actions);
  std::visit([&](const auto& m) { on(m, now, actions); }, message);
}

void LineClient::on(const EchoMessage&, SteadyTime, Actions&) {}

void LineClient::on(const OfferMessage& message, SteadyTime, Actions& actions) {
  const auto number = ours(message.ticket);
  if (!number) return;
  auto* const waiting = waiters_.find(waiterOf(*number));
  if (!waiting) {
    if (!held_.contains(*number)) decline(message.ticket, message.key, actions);
  } else if (waiting->state == State::kInLine) {
    confirm(*waiting, actions);
  } else {
    waiting->state = State::kOffered;
  }
}

void LineClient::on(const GrantMessage& message, SteadyTime now, Actions& actions) {
  const auto number = ours(message.ticket);
  if (!number) return;
  const auto* const waiting = waiters_.find(waiterOf(*number));
  const auto sent = heartbeat_.sentAt(message.beat);
  // While an answer about it is under way that one decides, as for an offer. Where the beat is old
  // too much of the lease may be over; a confirmation begins it anew.
  if (!waiting || waiting->state != State::kInLine || !sent ||
      now >= *sent + youngTime(waiting->lease))
    return on(OfferMessage{message.key, message.ticket}, now, actions);
  const auto lease = waiting->lease;
  take({message.ticket, message.fence}, {message.key, 1, *sent, now}, actions);
  if (waiters_.lineOf(message.key)) looks_.setEarlier(message.key, now + lease + kLookMargin);
}

}  // namespace festa::lock
