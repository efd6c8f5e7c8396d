#include "lock/redis/line/abandoned_tickets.h"

#include <utility>

namespace festa::lock {

namespace {

constexpr Millis kPauseAfterLoss{200};
// A command that was given up is executed within this time after the server answers again, or
// never.
constexpr Millis kLateAfter{1000};

}  // namespace

void AbandonedTickets::insert(const LockKey& key, std::string ticket) {
  if (waiting_[key].insert(std::move(ticket)).second) ++size_;
}

void AbandonedTickets::add(const LockKey& key, std::string ticket, bool mayArrive) {
  if (size_ + late_.size() >= kMost) return;
  if (mayArrive) mayArrive_.insert(ticket);
  insert(key, std::move(ticket));
}

// Of the first key.
AbandonCommand AbandonedTickets::next() {
  const auto first = waiting_.begin();
  AbandonCommand command{first->first, {}};
  auto& tickets = first->second;
  while (!tickets.empty() && command.tickets.size() < kTicketsPerCommand)
    command.tickets.push_back(std::move(tickets.extract(tickets.begin()).value()));
  size_ -= command.tickets.size();
  if (tickets.empty()) waiting_.erase(first);
  return command;
}

std::vector<AbandonCommand> AbandonedTickets::take(SteadyTime now) {
  if (underWay_ > 0 || now < notBefore_) return {};
  while (!late_.empty() && late_.front().at <= now) {
    insert(late_.front().key, std::move(late_.front().ticket));
    late_.pop_front();
  }
  std::vector<AbandonCommand> commands;
  while (!waiting_.empty() && commands.size() < kCommands) commands.push_back(next());
  underWay_ = commands.size();
  return commands;
}

void AbandonedTickets::answered(const AbandonCommand& command, SteadyTime now) {
  --underWay_;
  for (const auto& ticket : command.tickets)
    if (mayArrive_.erase(ticket) > 0) late_.push_back({now + kLateAfter, command.key, ticket});
}

void AbandonedTickets::lost(const AbandonCommand& command, SteadyTime now) {
  --underWay_;
  notBefore_ = now + kPauseAfterLoss;
  for (const auto& ticket : command.tickets) insert(command.key, ticket);
}

std::optional<SteadyTime> AbandonedTickets::nextAt() const {
  if (underWay_ > 0) return std::nullopt;
  if (!waiting_.empty()) return notBefore_;
  if (!late_.empty()) return std::max(notBefore_, late_.front().at);
  return std::nullopt;
}

}  // namespace festa::lock
