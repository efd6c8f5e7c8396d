// What one process does in the lines for locks on a Redis server: decisions only, no clock, no
// threads, no I/O.
#pragma once

#include "lock/lock_table.h"
#include "lock/redis/abandoned_tickets.h"
#include "lock/redis/line_protocol.h"

#include <map>
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

  std::size_t waiters() const { return waiting_.size(); }
  std::size_t waiters(const LockKey& key) const;
  std::uint64_t offersMissed() const { return offersMissed_; }

 private:
  struct Waiting {
    LockKey key;
    Millis lease;
    bool queue = true;
    bool asking = true;    // an arrive or confirm is under way
    bool offered = false;  // heard while asking
    bool stood = false;    // the server has had it in line
  };
  struct Line {
    std::set<WaiterId> tickets;
    SteadyTime lookAt = SteadyTime::max();
    bool looking = false;
  };
  // A hold under which more than one have their turn.
  struct Run {
    std::string leader;                 // whose hold it is on the server
    std::string holder;                 // whose turn it is
    std::vector<std::string> past;      // followers that have had theirs, and the holder
    std::vector<std::string> upcoming;  // the next one last
    std::int64_t fence = 0;             // of the holder
    SteadyTime validUntil;
    SteadyTime youngUntil;  // nobody's turn begins later
  };
  using Runs = std::unordered_map<LockKey, Run>;
  using Lines = std::map<LockKey, Line>;
  using Offers = std::map<LockKey, SteadyTime>;

  WaiterId add(const LockKey& key, Millis lease, bool queue);
  void remove(WaiterId waiter);
  std::string ticketOf(WaiterId waiter, Millis lease) const;
  std::optional<WaiterId> ours(const std::string& ticket) const;
  void send(LineCommand command, Actions& actions) { actions.push_back(Send{std::move(command)}); }
  void ask(WaiterId waiter, Waiting& waiting, Actions& actions);
  void confirm(WaiterId waiter, Waiting& waiting, Actions& actions);
  void standAgain(const std::set<WaiterId>& tickets, Actions& actions);
  void take(const LineReply::Grant& grant, const LockKey& key, SteadyTime sent, Actions& actions);
  void inLine(WaiterId waiter, Waiting& waiting, const LineReply& reply, SteadyTime now,
              Actions& actions);
  void decline(const std::string& ticket, const LockKey& key, Actions& actions);
  Run* runOf(const Lease& lease);
  LeaveCommand leaveOf(const Lease& lease);
  void leavePlacesOf(const LockKey& key, const Run& run);
  void leavePlacesOfOldRuns(SteadyTime now);
  void watch(const LockKey& key, const LineReply& reply, SteadyTime now);
  void lookAt(Lines::iterator line, SteadyTime at);
  void look(const LockKey& key, Line& line, Actions& actions);
  void lookEverywhere(Actions& actions);
  void lookSoon(const LockKey& key, SteadyTime now);
  void giveUp(const LockKey& key, const std::string& ticket, bool sent, bool mayStand,
              Actions& actions);
  void offered(const LockKey& key, SteadyTime now);
  void onLookAfterOffer(const LookCommand& c, const LineReply& reply, SteadyTime now);

  void onReply(const ArriveCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const LeaveCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const AbandonCommand& c, const LineReply&, SteadyTime now, Actions&) {
    abandoned_.answered(c, now);
  }
  void onReply(const ConfirmCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const LookCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const BeatCommand& c, const LineReply& reply, SteadyTime now, Actions& actions);
  void onReply(const QuitCommand&, const LineReply&, SteadyTime, Actions&) {}

  void onLoss(const ArriveCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const LeaveCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const AbandonCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const ConfirmCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const LookCommand& c, bool sent, SteadyTime now, Actions& actions);
  void onLoss(const BeatCommand&, bool, SteadyTime, Actions&) { beatAnswered_ = true; }
  void onLoss(const QuitCommand&, bool, SteadyTime, Actions&) {}

  const std::string process_;
  WaiterId last_ = 0;
  std::unordered_map<WaiterId, Waiting> waiting_;
  Lines lines_;                                   // keys with a waiter that queues
  std::set<std::pair<SteadyTime, LockKey>> due_;  // (lookAt, key) of lines_
  // Keys that this process has offered to another, when last: it looks whether they were taken, for
  // the receiver may be dead and those behind it may not look for a whole lease.
  Offers offers_;
  std::set<std::pair<SteadyTime, LockKey>> offersDue_;  // without those that are being looked at
  // Granted and not given back, until when: a late second grant of one of these is no news.
  std::unordered_map<WaiterId, SteadyTime> held_;
  Runs runs_;
  // (validUntil, key) of runs whose followers have had a turn: their places are left with the hold,
  // or at that time if nobody has given it back.
  std::set<std::pair<SteadyTime, LockKey>> runsDue_;
  AbandonedTickets abandoned_;
  std::uint64_t offersMissed_ = 0;

  // Beats, while somebody is in line.
  std::optional<SteadyTime> beatAt_;
  bool beatAnswered_ = true;
  bool heardSinceBeat_ = false;
  bool deaf_ = true;  // not sure that messages arrive
};

}  // namespace festa::lock
