#include "lock/redis/line/line_client.h"

#include <algorithm>

namespace festa::lock {

void LineClient::remove(WaiterId waiter) {
  const auto& waiting = *waiters_.find(waiter);
  const auto key = waiting.key;
  if (!inherited_.empty() && !waiting.ticket.empty()) inherited_.erase(*ours(waiting.ticket));
  if (waiters_.remove(waiter)) looks_.remove(key);
}

std::string LineClient::ticketOf(WaiterId waiter, Millis lease) const {
  return Ticket{process_, waiter, lease}.text();
}

std::optional<std::uint64_t> LineClient::ours(const std::string& text) const {
  const auto ticket = Ticket::parse(text);
  if (!ticket || ticket->process != process_) return std::nullopt;
  return ticket->number;
}

// Who has, or had, the place of this ticket.
WaiterId LineClient::waiterOf(std::uint64_t number) const {
  if (inherited_.empty()) return number;
  const auto heir = inherited_.find(number);
  return heir == inherited_.end() ? number : heir->second;
}

void LineClient::ask(WaiterId waiter, Waiting& waiting, Actions& actions) {
  waiting.state = State::kAsking;
  if (waiting.ticket.empty()) waiting.ticket = ticketOf(waiter, waiting.lease);
  const bool brief = looks_.contains(waiting.key) && heartbeat_.isRunning();
  send(ArriveCommand{waiting.key, waiting.ticket, waiting.queue, brief}, actions);
}

void LineClient::confirm(Waiting& waiting, Actions& actions) {
  waiting.state = State::kAsking;
  send(ConfirmCommand{waiting.key, waiting.ticket, following(waiting.key)}, actions);
}

void LineClient::decline(const std::string& ticket, const LockKey& key, Actions& actions) {
  send(LeaveCommand{key, ticket}, actions);
}

WaiterId LineClient::arrive(const LockRequest& request, SteadyTime now, Actions& actions) {
  const auto& key = request.key;
  const bool queue = request.wait > Millis{0};
  const bool isPlaceEnough = policy_ == LinePolicy::kPlacePerKey;
  const auto held = isPlaceEnough ? shared_.held(key, now) : std::nullopt;
  const bool isBehind = held || (isPlaceEnough && waiters_.lineOf(key));
  const auto waiter = waiters_.add({.key = key,
                                    .lease = request.lease,
                                    .queue = queue,
                                    .together = std::max<std::size_t>(1, request.together),
                                    .received = isBehind ? now : SteadyTime{}});
  if (!isBehind) {
    ask(waiter, *waiters_.find(waiter), actions);
  } else if (!queue) {
    waiters_.remove(waiter);
    actions.push_back(Busy{waiter});
  } else if (held) {
    looks_.setEarlier(key, held->validUntil + kLookMargin);
  }
  return waiter;
}

bool LineClient::cancel(WaiterId waiter, Actions& actions) {
  const auto* const found = waiters_.find(waiter);
  if (!found) return false;
  const auto waiting = *found;
  remove(waiter);
  if (inheritPlace(waiting)) return true;
  // While an answer is under way, that answer decides what is to be left.
  if (waiting.state == State::kInLine) decline(waiting.ticket, waiting.key, actions);
  return true;
}

void LineClient::abandon(const LockKey& key, const std::vector<std::string>& tickets) {
  for (const auto& ticket : tickets) abandoned_.add(key, ticket, false);
}

std::optional<std::string> LineClient::prolonging(const Lease& lease) {
  const auto turn = shared_.turnOf(lease);
  if (turn == SharedHolds::Turn::kOver) return std::nullopt;
  if (turn == SharedHolds::Turn::kNow) shared_.endTurns(lease.key);
  return shared_.leaderOf(lease);
}

void LineClient::prolonged(const Lease& lease) {
  shared_.prolonged(lease);
  const auto number = ours(shared_.leaderOf(lease));
  if (!number) return;
  const auto found = held_.find(*number);
  if (found != held_.end()) found->second = lease.validUntil;
}

void LineClient::look(const LockKey& key, Line& line, SteadyTime now, Actions& actions) {
  if (line.looking) return;
  // The first one that the server knows of stands for all.
  for (const auto& place : line.waiters) {
    auto& waiting = *waiters_.find(place.waiter);
    if (waiting.state == State::kHere) {
      const auto held = shared_.held(key, now);
      if (!held) return ask(place.waiter, waiting, actions);
      return looks_.setEarlier(key, held->validUntil + kLookMargin);
    }
    if (waiting.state == State::kInLine) {
      line.looking = true;
      return send(LookCommand{key, waiting.ticket}, actions);
    }
    if (policy_ == LinePolicy::kPlacePerKey) return;
  }
}

void LineClient::lookEverywhere(SteadyTime now, Actions& actions) {
  for (auto& [key, line] : waiters_.lines()) look(key, line, now, actions);
}

void LineClient::tick(SteadyTime now, Actions& actions) {
  while (const auto old = shared_.takeOld(now)) abandon(old->key, old->tickets);
  for (auto& command : abandoned_.take(now)) send(std::move(command), actions);
  while (auto key = offers_.takeDue(now)) send(LookCommand{std::move(*key), ""}, actions);
  while (const auto key = looks_.takeDue(now)) look(*key, *waiters_.lineOf(*key), now, actions);
  if (!heartbeat_.isDue(now)) return;
  if (waiters_.lines().empty()) return heartbeat_.stop();
  const auto due = heartbeat_.beat(now);
  if (due.look) lookEverywhere(now, actions);
  // With one place for all a process is woken by an offer, and takes the key again.
  const bool isReady = policy_ == LinePolicy::kPlacePerWaiter;
  if (due.send) send(BeatCommand{isReady ? due.number : 0}, actions);
}

std::optional<SteadyTime> LineClient::nextTick() const {
  std::optional<SteadyTime> next;
  for (const auto& at : {heartbeat_.nextAt(), abandoned_.nextAt(), looks_.nextAt(),
                         offers_.nextAt(), shared_.nextAt()})
    if (at && (!next || *at < *next)) next = at;
  return next;
}

std::vector<WaiterId> LineClient::dropAll(bool quits, Actions& actions) {
  std::vector<WaiterId> dropped;
  for (const auto& [waiter, waiting] : waiters_.all()) {
    dropped.push_back(waiter);
    // While an answer is under way, that answer decides what is to be left.
    if (waiting.state == State::kInLine) abandoned_.add(waiting.key, waiting.ticket, false);
  }
  if (quits && !waiters_.lines().empty()) send(QuitCommand{}, actions);
  waiters_.clear();
  inherited_.clear();
  looks_.clear();
  offers_.clear();
  shared_.endAllTurns();
  heartbeat_.stop();
  return dropped;
}

}  // namespace festa::lock
