// What one process does in the lines for locks on a Redis server: decisions only, no clock, no
// threads, no I/O.
#pragma once

#include "lock/redis/abandoned_tickets.h"
#include "lock/redis/due_times.h"
#include "lock/redis/heartbeat.h"
#include "lock/redis/line_protocol.h"
#include "lock/redis/line_waiters.h"
#include "lock/redis/offers_made.h"
#include "lock/redis/shared_holds.h"

#include <set>
#include <unordered_map>
#include <vector>

namespace festa::lock {

// The caller carries commands to the server and brings back replies, losses, messages and the time;
// any of them may come late, twice (messages) or never. Not thread-safe.
//
// A waiter is one ticket. It is told exactly once how it ended, unless it was cancelled. Whatever
// the network does, nobody waits in vain for a free key longer than the remaining lease of the last
// holder: the process looks by itself when that is over, at each beat when its messages do not
// arrive, and takes its places again when the server has forgotten them. Whoever ends without an
// answer is taken off the server as soon as that answers again, however long that takes.
class LineClient {
 public:
  struct Send {
    LineCommand command;
  };
  struct Granted {
    WaiterId waiter;
    Lease lease;
  };
  struct Busy {
    WaiterId waiter;
  };
  struct Broken {  // no reply: nobody knows whether it holds the key
    WaiterId waiter;
  };
  using Action = std::variant<Send, Granted, Busy, Broken>;
  using Actions = std::vector<Action>;

  explicit LineClient(std::string process) : process_(std::move(process)) {}

  // A new waiter; queue = false: it takes the key at once or is told kBusy.
  WaiterId arrive(const LockKey& key, Millis lease, bool queue, Actions& actions);
  // A new waiter that the holder of `lease` names as its successor by the returned leave.
  std::pair<WaiterId, LeaveCommand> succeed(const Lease& lease, Millis nextLease, bool keep);
  // False: it has been told its end already.
  bool cancel(WaiterId waiter, Actions& actions);

  // A hold is given back: to the server, or, while it is young, straight to the next in line here.
  // Neither: it has been given back before.
  struct GivenBack {
    std::optional<LeaveCommand> leave = {};
    std::optional<Granted> next = {};
  };
  GivenBack giveBack(const Lease& lease, SteadyTime now);

  // The hold is about to be prolonged: by whom the server knows it. Nobody follows under it then.
  // nullopt: it has been given back.
  std::optional<std::string> prolonging(const Lease& lease);
  // It lasts until `validUntil` now.
  void prolonged(const Lease& lease);

  void replied(const LineCommand& command, const LineReply& reply, SteadyTime sent, SteadyTime now,
               Actions& actions);
  // `sent`: it may have been executed.
  void lost(const LineCommand& command, bool sent, SteadyTime now, Actions& actions);
  void heardEcho(SteadyTime now, Actions& actions);
  void heardOffer(const std::string& ticket, const LockKey& key, SteadyTime now, Actions& actions);

  // What is due by now. Call it again at nextTick() at the latest.
  void tick(SteadyTime now, Actions& actions);
  std::optional<SteadyTime> nextTick() const;

  // Forgets all waiters; their ids. Their places are left from the next tick on. `quits`: the
  // process takes no new ones.
  std::vector<WaiterId> dropAll(bool quits, Actions& actions);

  std::size_t waiters() const { return waiters_.all().size(); }
  std::size_t waiters(const LockKey& key) const { return waiters_.inLine(key); }
  std::uint64_t offersMissed() const { return offersMissed_; }

 private:
  using State = LineWaiters::State;
  using Waiting = LineWaiters::Waiting;
  using Line = LineWaiters::Line;

  void remove(WaiterId waiter);
  std::string ticketOf(WaiterId waiter, Millis lease) const;
  std::optional<WaiterId> ours(const std::string& ticket) const;
  void send(LineCommand command, Actions& actions) { actions.push_back(Send{std::move(command)}); }
  void ask(WaiterId waiter, Waiting& waiting, Actions& actions);
  void confirm(WaiterId waiter, Waiting& waiting, Actions& actions);
  void decline(const std::string& ticket, const LockKey& key, Actions& actions);
  LeaveCommand leaveOf(const Lease& lease);
  void abandon(const LockKey& key, const std::vector<std::string>& tickets);
  void look(const LockKey& key, Line& line, Actions& actions);
  void lookEverywhere(Actions& actions);

  // What replies and losses have in common; line_client_answers.cc.
  void take(const LineReply::Grant& grant, const LockKey& key, SteadyTime sent, Actions& actions);
  void inLine(WaiterId waiter, Waiting& waiting, const LineReply& reply, SteadyTime now,
              Actions& actions);
  void standAgain(const std::set<WaiterId>& waiters, Actions& actions);
  void watch(const LockKey& key, const LineReply& reply, SteadyTime now);
  void lookSoon(const LockKey& key, SteadyTime now);
  void giveUp(const LockKey& key, const std::string& ticket, bool sent, bool mayStand,
              Actions& actions);

  // One for each command; what does not matter to one is left out.
  void onReply(const ArriveCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const LeaveCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const AbandonCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const ConfirmCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const LookCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const BeatCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const QuitCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onLoss(const ArriveCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const LeaveCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const AbandonCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const ConfirmCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const LookCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const BeatCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const QuitCommand& c, bool sent, SteadyTime now, Actions& actions);

  const std::string process_;
  LineWaiters waiters_;
  DueTimes looks_;  // when to look at the keys of lines
  // Granted and not given back, until when: a repeated grant of one of these is ignored.
  std::unordered_map<WaiterId, SteadyTime> held_;
  SharedHolds shared_;
  OffersMade offers_;
  AbandonedTickets abandoned_;
  Heartbeat heartbeat_;  // while somebody is in line
  std::uint64_t offersMissed_ = 0;
};

}  // namespace festa::lock
