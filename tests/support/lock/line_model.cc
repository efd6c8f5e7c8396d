#include "tests/support/lock/line_model.h"

#include <algorithm>

namespace festa::test {

using lock::LineReply;
using lock::LineVerdict;
using lock::SteadyTime;
using lock::Ticket;

namespace {

std::string processOf(const std::string& ticket) {
  return ticket.substr(0, ticket.find(':'));
}

}  // namespace

// One command of one process on one key.
struct LineModel::Step {
  LineModel& server;
  const std::string& me;
  const lock::LockKey& name;
  SteadyTime now;
  Key& key = server.keys_[name];
  LineReply reply = {};
  lock::Following following = {};  // of the command

  bool isHeld() {
    if (key.hold && key.hold->until <= now) key.hold.reset();
    return key.hold.has_value();
  }
  // nullptr: it is not alive.
  const Life* lifeOf(const std::string& process) const {
    const auto found = server.alive_.find(process);
    return found != server.alive_.end() && found->second.until > now ? &found->second : nullptr;
  }
  bool isHolder(const std::string& ticket) { return isHeld() && key.hold->ticket == ticket; }
  auto find(const std::string& ticket) {
    return std::find_if(key.line.begin(), key.line.end(),
                        [&](const auto& place) { return place.second == ticket; });
  }

  std::int64_t hand(const std::string& ticket) {
    key.hold = Hold{ticket, now + Ticket::parse(ticket)->lease};
    return ++*server.fence_;
  }
  void give(const std::string& ticket) {
    reply.grant = {ticket, hand(ticket)};
    follow();
  }
  void place(const std::string& ticket) {
    if (find(ticket) == key.line.end()) key.line.emplace(++server.arrivals_, ticket);
  }
  void stand(const std::string& ticket) {
    place(ticket);
    auto& life = server.alive_[me];
    if (life.until <= now) life.beat = 0;
    life.until = now + lock::kAliveTime;
  }
  void serve() {
    if (server.bug_ == Bug::kNobodyIsServed) return;
    if (!key.offer.empty()) {
      if (processOf(key.offer) != me) server.alive_.erase(processOf(key.offer));
      key.offer.clear();
    }
    for (int i = 0; i < lock::kDeadPerStep; ++i) {
      if (key.line.empty()) return;
      const auto first =
          server.bug_ == Bug::kLastComesFirst ? std::prev(key.line.end()) : key.line.begin();
      const auto ticket = first->second;
      key.line.erase(first);
      if (processOf(ticket) == me) return give(ticket);
      if (const auto* const life = lifeOf(processOf(ticket))) return wake(ticket, life->beat);
      server.forgotten_.push_back(ticket);
    }
    reply.unfinished = true;
  }
  void wake(const std::string& ticket, std::uint64_t beat) {
    const auto process = processOf(ticket);
    const auto lease = Ticket::parse(ticket)->lease;
    reply.offered = true;
    const bool isReady =
        beat > 0 && lease >= lock::kShortestReadyLease && lease <= lock::kLongestReadyLease;
    if (isReady && (key.line.empty() || processOf(key.line.begin()->second) != process)) {
      server.messages_.push_back({process, lock::GrantMessage{name, ticket, hand(ticket), beat}});
      if (server.bug_ == Bug::kGrantsAreNotHeld) key.hold.reset();
      return;
    }
    key.hold = Hold{ticket, now + lock::kOfferTime};
    key.offer = ticket;
    server.messages_.push_back({process, lock::OfferMessage{name, ticket}});
  }
  // Those next in line who may follow the one that was just granted the key, and their fences.
  void follow() {
    const auto lease = Ticket::parse(reply.grant->ticket)->lease;
    auto& followers = reply.grant->followers;
    for (const auto& [order, ticket] : key.line) {
      if (processOf(ticket) != me || Ticket::parse(ticket)->lease != lease) break;
      if (followers.size() == static_cast<std::size_t>(following.named)) break;
      followers.push_back(ticket);
    }
    reply.grant->spare = following.unnamed;
    if (server.bug_ != Bug::kFollowersHaveNoFences)
      *server.fence_ += static_cast<std::int64_t>(followers.size()) + following.unnamed;
  }
  LineReply answer(LineVerdict verdict) {
    reply.verdict = verdict;
    if (isHeld()) {
      reply.holder = key.hold->ticket;
      reply.remaining = std::chrono::duration_cast<lock::Millis>(key.hold->until - now);
    }
    return reply;
  }

  LineReply operator()(const lock::ArriveCommand& c) {
    if (!server.fence_) {
      if (c.queue) stand(c.ticket);
      return answer(LineVerdict::kNoEpoch);
    }
    if (isHolder(c.ticket)) return answer(LineVerdict::kYes);
    const bool wasHeld = isHeld() && server.bug_ != Bug::kHoldIsIgnored;
    if (!wasHeld && !key.line.empty() && !c.queue) serve();
    if (!wasHeld && (!isHeld() || server.bug_ == Bug::kHoldIsIgnored) && key.line.empty()) {
      key.offer.clear();
      give(c.ticket);
      return answer(LineVerdict::kYes);
    }
    if (!c.queue) return answer(LineVerdict::kNo);
    if (wasHeld && c.brief) {
      place(c.ticket);
      auto brief = answer(LineVerdict::kYes);
      brief.remaining.reset();
      return brief;
    }
    stand(c.ticket);
    if (!wasHeld) serve();
    return answer(LineVerdict::kYes);
  }
  LineReply operator()(lock::LeaveCommand c) {
    if (!server.fence_) return answer(LineVerdict::kNoEpoch);
    following = c.following;
    for (const auto& follower : c.followers) {
      const auto place = find(follower);
      if (place != key.line.end()) key.line.erase(place);
      if (isHolder(follower)) c.ticket = follower;
    }
    if (isHolder(c.ticket) || (isHeld() && server.bug_ == Bug::kAnyoneMayLeave)) {
      key.offer.clear();
      if (!c.next.empty() && (c.keep || key.line.empty())) {
        reply.others = c.keep && !key.line.empty();
        give(c.next);
        return answer(LineVerdict::kYes);
      }
      key.hold.reset();
      if (!c.next.empty()) stand(c.next);
      serve();
      return answer(LineVerdict::kYes);
    }
    const auto place = find(c.ticket);
    if (place != key.line.end()) {
      key.line.erase(place);
      return answer(LineVerdict::kLeftLine);
    }
    if (!isHeld()) serve();
    return answer(LineVerdict::kNo);
  }
  LineReply operator()(const lock::AbandonCommand& c) {
    if (server.bug_ == Bug::kPlacesStay && server.fence_) return answer(LineVerdict::kNo);
    return (*this)(lock::LeaveCommand{.key = c.key, .ticket = "-", .followers = c.tickets});
  }
  LineReply operator()(const lock::ConfirmCommand& c) {
    if (!server.fence_) return answer(LineVerdict::kNoEpoch);
    if (!isHolder(c.ticket)) return answer(LineVerdict::kNo);
    following = c.following;
    key.offer.clear();
    give(c.ticket);
    return answer(LineVerdict::kYes);
  }
  LineReply operator()(const lock::LookCommand& c) {
    if (!server.fence_) return answer(LineVerdict::kNoEpoch);
    if (!isHeld()) serve();
    const bool there = isHolder(c.ticket) || find(c.ticket) != key.line.end();
    return answer(there ? LineVerdict::kYes : LineVerdict::kNo);
  }
};

LineReply LineModel::execute(const lock::LineCommand& command, const std::string& process,
                             SteadyTime now) {
  return std::visit(
      [&](const auto& c) -> LineReply {
        if constexpr (requires { c.key; }) {
          return Step{*this, process, c.key, now}(c);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(c)>, lock::BeatCommand>) {
          const auto known = alive_.find(process);
          const bool wasKnown = known != alive_.end() && known->second.until > now;
          alive_[process] = {now + lock::kAliveTime, c.number};
          messages_.push_back({process, lock::EchoMessage{}});
          return {wasKnown ? LineVerdict::kYes : LineVerdict::kNo};
        } else {
          alive_.erase(process);
          return {LineVerdict::kYes};
        }
      },
      command);
}

std::vector<std::string> LineModel::places() const {
  std::vector<std::string> tickets;
  for (const auto& [name, key] : keys_)
    for (const auto& [order, ticket] : key.line) tickets.push_back(ticket);
  return tickets;
}

void LineModel::startEpoch(std::int64_t epoch) {
  fence_ = std::max(fence_.value_or(0), epoch << 32);
}

void LineModel::flush() {
  keys_.clear();
  alive_.clear();
  fence_.reset();
  arrivals_ = 0;
}

}  // namespace festa::test
