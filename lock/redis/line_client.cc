#include "lock/redis/line_client.h"

#include <algorithm>

namespace festa::lock {

void LineClient::remove(WaiterId waiter) {
  const auto key = waiters_.find(waiter)->key;
  if (waiters_.remove(waiter)) looks_.remove(key);
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
  waiting.state = State::kAsking;
  const bool brief = looks_.contains(waiting.key) && heartbeat_.isRunning();
  send(ArriveCommand{waiting.key, ticketOf(waiter, waiting.lease), waiting.queue, brief}, actions);
}

void LineClient::confirm(WaiterId waiter, Waiting& waiting, Actions& actions) {
  waiting.state = State::kAsking;
  send(ConfirmCommand{waiting.key, ticketOf(waiter, waiting.lease)}, actions);
}

void LineClient::decline(const std::string& ticket, const LockKey& key, Actions& actions) {
  send(LeaveCommand{key, ticket}, actions);
}

WaiterId LineClient::arrive(const LockKey& key, Millis lease, bool queue, Actions& actions) {
  const auto waiter = waiters_.add(key, lease, queue);
  ask(waiter, *waiters_.find(waiter), actions);
  return waiter;
}

std::pair<WaiterId, LeaveCommand> LineClient::succeed(const Lease& lease, Millis nextLease,
                                                      bool keep) {
  const auto waiter = waiters_.add(lease.key, nextLease, true);
  auto leave = leaveOf(lease);
  leave.next = ticketOf(waiter, nextLease);
  leave.keep = keep;
  return {waiter, std::move(leave)};
}

bool LineClient::cancel(WaiterId waiter, Actions& actions) {
  const auto* const found = waiters_.find(waiter);
  if (!found) return false;
  const auto waiting = *found;
  remove(waiter);
  // While an answer is under way, that answer decides what is to be left.
  if (waiting.state == State::kInLine)
    decline(ticketOf(waiter, waiting.lease), waiting.key, actions);
  return true;
}

LeaveCommand LineClient::leaveOf(const Lease& lease) {
  auto leave = shared_.leave(lease);
  if (const auto waiter = ours(leave.ticket)) held_.erase(*waiter);
  return leave;
}

LineClient::GivenBack LineClient::giveBack(const Lease& lease, SteadyTime now) {
  const auto turn = shared_.turnOf(lease);
  if (turn == SharedHolds::Turn::kOver) return {};
  while (turn == SharedHolds::Turn::kNow) {
    auto ticket = shared_.nextFollower(lease.key, now);
    if (!ticket) break;
    const auto waiter = *ours(*ticket);
    const auto* const waiting = waiters_.find(waiter);
    if (!waiting) continue;  // cancelled
    // It is about to hear from the server itself, and nobody may pass it.
    if (waiting->state != State::kInLine) break;
    remove(waiter);
    return {.next = Granted{waiter, shared_.giveTurn(lease.key, std::move(*ticket))}};
  }
  return {.leave = leaveOf(lease)};
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
  const auto waiter = ours(shared_.leaderOf(lease));
  if (!waiter) return;
  const auto found = held_.find(*waiter);
  if (found != held_.end()) found->second = lease.validUntil;
}

void LineClient::look(const LockKey& key, Line& line, Actions& actions) {
  if (line.looking) return;
  // The first one that the server knows of stands for all.
  for (const auto waiter : line.waiters) {
    const auto& waiting = *waiters_.find(waiter);
    if (waiting.state != State::kInLine) continue;
    line.looking = true;
    send(LookCommand{key, ticketOf(waiter, waiting.lease)}, actions);
    return;
  }
}

void LineClient::lookEverywhere(Actions& actions) {
  for (auto& [key, line] : waiters_.lines()) look(key, line, actions);
}

void LineClient::tick(SteadyTime now, Actions& actions) {
  while (const auto old = shared_.takeOld(now)) abandon(old->key, old->tickets);
  for (auto& command : abandoned_.take(now)) send(std::move(command), actions);
  while (auto key = offers_.takeDue(now)) send(LookCommand{std::move(*key), ""}, actions);
  while (const auto key = looks_.takeDue(now)) look(*key, *waiters_.lineOf(*key), actions);
  if (!heartbeat_.isDue(now)) return;
  if (waiters_.lines().empty()) return heartbeat_.stop();
  const auto due = heartbeat_.beat(now);
  if (due.look) lookEverywhere(actions);
  if (due.send) send(BeatCommand{}, actions);
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
    if (waiting.state == State::kInLine)
      abandoned_.add(waiting.key, ticketOf(waiter, waiting.lease), false);
  }
  if (quits && !waiters_.lines().empty()) send(QuitCommand{}, actions);
  waiters_.clear();
  looks_.clear();
  offers_.clear();
  shared_.endAllTurns();
  heartbeat_.stop();
  return dropped;
}

}  // namespace festa::lock
