// What one process does in the lines for locks on a Redis server: decisions only, no clock, no
// threads, no I/O.
#pragma once

#include "lock/redis/line/abandoned_tickets.h"
#include "lock/redis/line/due_times.h"
#include "lock/redis/line/heartbeat.h"
#include "lock/redis/line/line_protocol.h"
#include "lock/redis/line/line_waiters.h"
#include "lock/redis/line/offers_made.h"
#include "lock/redis/line/shared_holds.h"

#include <unordered_map>
#include <variant>
#include <vector>

namespace festa::lock {

// The caller carries commands to the server and brings back replies, losses, messages and the time;
// any of them may come late, twice (messages) or never. Not thread-safe.
//
// A waiter is told exactly once how it ended, unless it was cancelled. Whatever the network does,
// no waiter waits in vain for a free key longer than the remaining lease of the last holder: the
// process looks by itself when that is over, at each beat when its messages do not arrive, and
// takes its places again when the server has forgotten them. A ticket whose waiter ends without an
// answer is taken off the server as soon as that answers again, however long that takes.
class LineClient {
 public:
  // What follows from a decision, for the caller to carry out.
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
  struct Broken {  // no reply: it may hold the key
    WaiterId waiter;
  };
  using Action = std::variant<Send, Granted, Busy, Broken>;
  using Actions = std::vector<Action>;

  LineClient(std::string process, LinePolicy policy)
      : process_(std::move(process)), policy_(policy) {}

  // A new waiter. With wait 0 it takes the key at once or is told Busy.
  WaiterId arrive(const LockRequest& request, SteadyTime now, Actions& actions);
  // False: it has been told its end already.
  bool cancel(WaiterId waiter, Actions& actions);

  // A lease is given back: nothing more is to be done while others have the key with it. Then the
  // hold goes, while it is young, straight to the `next` ones here, else to the server by `leave`.
  // Not released and no leave: it has been given back before.
  struct GivenBack {
    bool released = false;
    std::vector<Granted> next = {};
    std::optional<LeaveCommand> leave = {};
  };
  GivenBack giveBack(const Lease& lease, SteadyTime now);

  // The hold is about to be prolonged: the ticket of its leader. No waiter follows under it then.
  // nullopt: it has been given back.
  std::optional<std::string> prolonging(const Lease& lease);
  // It lasts until `validUntil` now.
  void prolonged(const Lease& lease);

  void replied(const LineCommand& command, const LineReply& reply, SteadyTime sent, SteadyTime now,
               Actions& actions);
  // `sent`: it may have been executed.
  void lost(const LineCommand& command, bool sent, SteadyTime now, Actions& actions);
  void heard(const LineMessage& message, SteadyTime now, Actions& actions);

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
  std::optional<std::uint64_t> ours(const std::string& ticket) const;
  WaiterId waiterOf(std::uint64_t number) const;
  void send(LineCommand command, Actions& actions) { actions.push_back(Send{std::move(command)}); }
  void ask(WaiterId waiter, Waiting& waiting, Actions& actions);
  void confirm(Waiting& waiting, Actions& actions);
  void decline(const std::string& ticket, const LockKey& key, Actions& actions);
  void abandon(const LockKey& key, const std::vector<std::string>& tickets);
  void look(const LockKey& key, Line& line, SteadyTime now, Actions& actions);
  void lookEverywhere(SteadyTime now, Actions& actions);

  // Who has the key under a hold of this process, and who is next; line_client_turns.cc.
  bool inheritPlace(const Waiting& from);
  std::optional<WaiterId> nextHere(const LockKey& key);
  void fillTurn(const LockKey& key, std::size_t together, SteadyTime now,
                std::vector<Granted>& turn);
  void join(const LockKey& key, std::size_t together, SteadyTime now, std::vector<Granted>& turn);
  std::optional<LeaveCommand> leaveOf(const Lease& lease);
  LeaveCommand leaveHold(const LockKey& key);
  Following following(const LockKey& key);
  void failThoseHere(const LockKey& key, Actions& actions);

  // What replies and losses have in common; line_client_answers.cc.
  struct Granting {
    const LockKey& key;
    int turns;  // of this process in a row
    SteadyTime sent;
    SteadyTime now;
  };
  void take(const LineReply::Grant& grant, const Granting& how, Actions& actions);
  void inLine(Waiting& waiting, const LineReply& reply, SteadyTime now, Actions& actions);
  void standAgain(const WaitingLine& waiters, Actions& actions);
  void watch(const LockKey& key, const LineReply& reply, SteadyTime now);
  void lookSoon(const LockKey& key, SteadyTime now);
  void giveUp(const LockKey& key, const std::string& ticket, bool sent, bool mayStand,
              Actions& actions);

  // One for each command whose answer matters; what does not matter to one is left out.
  void onReply(const ArriveCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const LeaveCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const AbandonCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const ConfirmCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const LookCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const BeatCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void on(const EchoMessage& message, SteadyTime now, Actions& actions);
  void on(const OfferMessage& message, SteadyTime now, Actions& actions);
  void on(const GrantMessage& message, SteadyTime now, Actions& actions);
  void onLoss(const ArriveCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const LeaveCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const AbandonCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const ConfirmCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const LookCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const BeatCommand& c, bool sent, SteadyTime now, Actions& actions);

  const std::string process_;
  const LinePolicy policy_;
  LineWaiters waiters_;
  // Places that another waiter has than the one that took them, by the number of their tickets.
  std::unordered_map<std::uint64_t, WaiterId> inherited_;
  DueTimes looks_;  // when to look at the keys of lines
  // Numbers of tickets that were granted and not given back, until when: a repeated grant of one
  // of these is ignored.
  std::unordered_map<std::uint64_t, SteadyTime> held_;
  SharedHolds shared_;
  OffersMade offers_;
  AbandonedTickets abandoned_;
  Heartbeat heartbeat_;  // while waiters are in line
  std::uint64_t offersMissed_ = 0;
};

}  // namespace festa::lock
