// Who of a process has the key under a hold, and who is next.
#include "lock/redis/line/line_client.h"

#include <algorithm>
#include <limits>

namespace festa::lock {

// The place of a waiter that has gone serves the next one here, where one place is for all.
bool LineClient::inheritPlace(const Waiting& from) {
  if (policy_ != LinePolicy::kPlacePerKey || from.state == State::kHere) return false;
  auto* const line = waiters_.lineOf(from.key);
  if (!line) return false;
  const auto heir = line->waiters.head().waiter;
  auto& waiting = *waiters_.find(heir);
  if (waiting.state != State::kHere) return false;
  waiting.state = from.state;
  waiting.stood = from.stood;
  waiting.ticket = from.ticket;
  inherited_[*ours(from.ticket)] = heir;
  return true;
}

// The next one that may have the key under the hold of this process.
std::optional<WaiterId> LineClient::nextHere(const LockKey& key) {
  if (policy_ == LinePolicy::kPlacePerKey) {
    auto* const line = waiters_.lineOf(key);
    return line ? std::optional(line->waiters.head().waiter) : std::nullopt;
  }
  while (const auto* const ticket = shared_.named(key)) {
    const auto waiter = *ours(*ticket);
    if (waiters_.find(waiter)) return waiter;
    shared_.pass(key);  // it was cancelled
  }
  return std::nullopt;
}

// Lets the next ones have the key with those in `turn`, as long as all of them allow one more.
// `together`: what those allow that have it already.
void LineClient::fillTurn(const LockKey& key, std::size_t together, SteadyTime now,
                          std::vector<Granted>& turn) {
  join(key, together, now, turn);
  makeCompany(turn);
}

void LineClient::join(const LockKey& key, std::size_t together, SteadyTime now,
                      std::vector<Granted>& turn) {
  const bool isNamed = policy_ == LinePolicy::kPlacePerWaiter;
  const auto held = shared_.held(key, now);
  if (!held) return;
  Companions companions(held->lease, together, turn.size());
  while (shared_.mayFollow(key, now)) {
    const auto next = nextHere(key);
    if (!next) return;
    auto& waiting = *waiters_.find(*next);
    // Its own reply from the server is under way, and no waiter may pass it.
    if (waiting.state != (isNamed ? State::kInLine : State::kHere)) return;
    if (!companions.joins(waiting.lease, waiting.together)) return;
    auto ticket = isNamed ? waiting.ticket : ticketOf(*next, waiting.lease);
    const auto received = waiting.received;
    remove(*next);
    turn.push_back({*next, shared_.join(key, std::move(ticket), isNamed)});
    turn.back().lease.received = received;
  }
}

LineClient::GivenBack LineClient::giveBack(const Lease& lease, SteadyTime now) {
  const auto turn = shared_.turnOf(lease);
  if (turn == SharedHolds::Turn::kOver) return {};
  if (turn == SharedHolds::Turn::kAlone) return {.leave = leaveOf(lease)};
  const auto held = shared_.held(lease.key, now);
  GivenBack given{.released = held.has_value()};
  if (!shared_.leaveTurn(lease)) return given;
  if (held && (policy_ == LinePolicy::kPlacePerWaiter || held->turns < kInARow))
    fillTurn(lease.key, std::numeric_limits<std::size_t>::max(), now, given.next);
  if (given.next.empty())
    given.leave = leaveHold(lease.key);
  else
    shared_.beginTurn(lease.key);
  return given;
}

// Of a lease whose hold is not known here. nullopt: no waiter of this process has got it.
std::optional<LeaveCommand> LineClient::leaveOf(const Lease& lease) {
  const auto number = ours(lease.owner);
  if (!number) return std::nullopt;
  held_.erase(*number);
  return LeaveCommand{.key = lease.key, .ticket = lease.owner, .following = following(lease.key)};
}

LeaveCommand LineClient::leaveHold(const LockKey& key) {
  auto leave = shared_.leave(key);
  held_.erase(*ours(leave.ticket));
  leave.following = following(key);
  const auto* const line = waiters_.lineOf(key);
  if (!line) return leave;
  const auto first = line->waiters.head().waiter;
  auto& waiting = *waiters_.find(first);
  if (waiting.state != State::kHere) return leave;
  waiting.state = State::kAsking;
  waiting.ticket = ticketOf(first, waiting.lease);
  leave.next = waiting.ticket;
  leave.keep = leave.turns < kInARow;
  return leave;
}

// Under a hold that the first one here gets.
Following LineClient::following(const LockKey& key) {
  const auto* const line = waiters_.lineOf(key);
  if (!line) return {};
  const auto together = line->waiters.head().together;
  constexpr std::size_t kMost = kMostFollowers;
  if (policy_ == LinePolicy::kPlacePerWaiter)
    return {.named = std::max(kFollowers, static_cast<int>(std::min(together - 1, kMost)))};
  const auto behind = line->waiters.size() - 1;
  return {.unnamed = static_cast<int>(std::min({behind, kInARow * together - 1, kMost}))};
}

// They wait for the same server as the one that had their place.
void LineClient::failThoseHere(const LockKey& key, Actions& actions) {
  while (auto* const line = waiters_.lineOf(key)) {
    const auto waiter = line->waiters.head().waiter;
    if (waiters_.find(waiter)->state != State::kHere) return;
    remove(waiter);
    actions.push_back(Broken{waiter});
  }
}

}  // namespace festa::lock
