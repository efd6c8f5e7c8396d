// What the processes and a Redis server say to each other about a line for a lock.
#pragma once

#include "lock/lock_storage.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace festa::lock {

// One place in line, and the owner of the hold that it becomes: "<process>:<number>:<lease in ms>".
// The server reads the process (is it alive? whom to wake?) and the lease out of it.
struct Ticket {
  std::string process;
  std::uint64_t number = 0;
  Millis lease{};

  std::string text() const;
  // nullopt: not a ticket.
  static std::optional<Ticket> parse(std::string_view text);
};

// Commands. Each is one atomic step on the server.

// Takes the key if it is free and nobody is in line; else stands in line (`queue`) or goes away. A
// ticket that is in line keeps its place. `brief`: the server has heard from this process lately,
// and the process knows when to look at this key; the step says neither.
struct ArriveCommand {
  LockKey key;
  std::string ticket;
  bool queue = true;
  bool brief = false;
};

// Gives the hold, the offer or the place in line of a ticket back. A hold goes to the first in line
// whose process is alive: granted by the reply when that is the caller's own process, offered by
// message when not. With `next` the caller names who follows: at once when `keep` is set or nobody
// else is in line, else `next` goes to the end of the line. `followers` have had the key since
// under the same hold; they give theirs back with it.
struct LeaveCommand {
  LockKey key;
  std::string ticket;
  std::string next = {};
  bool keep = false;
  std::vector<std::string> followers = {};
};

// Takes tickets of the caller off the server: their places in line, and the hold or the offer of
// the one that has it, which goes on as by a leave.
struct AbandonCommand {
  LockKey key;
  std::vector<std::string> tickets;
};

// Makes a hold of an offer.
struct ConfirmCommand {
  LockKey key;
  std::string ticket;
};

// Looks who has the key. If nobody, the first in line is served as by a leave. Says whether
// `ticket`, if any, still has its place.
struct LookCommand {
  LockKey key;
  std::string ticket;
};

// This process is alive and still has waiters; its echo proves that messages arrive. Says whether
// the server still knew.
struct BeatCommand {};

// This process ends: its places in line are void.
struct QuitCommand {};

using LineCommand = std::variant<ArriveCommand, LeaveCommand, AbandonCommand, ConfirmCommand,
                                 LookCommand, BeatCommand, QuitCommand>;

// nullptr: it is not about a key.
const LockKey* keyOf(const LineCommand& command);

enum class LineVerdict {
  kNoEpoch,  // the server has lost its fence counter: a new epoch first
  kNo,  // arrive: busy · leave, confirm: not this ticket's · look: place lost · beat: forgotten
  kYes,
  kLeftLine,  // leave: it was in line, not the holder
};

struct LineReply {
  LineVerdict verdict = LineVerdict::kNo;
  // A ticket of the asking process became the holder in this step, with a full lease. Those next in
  // line, if they are of the same process and asked for the same lease, may follow it under this
  // hold, one after the other, with the fences after its own. They keep their places meanwhile.
  struct Grant {
    std::string ticket;
    std::int64_t fence = 0;
    std::vector<std::string> followers = {};
  };
  std::optional<Grant> grant = {};
  std::string holder = {};               // who has or is offered the key now; empty: nobody
  std::optional<Millis> remaining = {};  // of that; a brief step may not say
  bool others = false;                   // leave with `keep`: somebody is in line
  bool offered = false;                  // this step has offered the key to another process
  bool unfinished = false;  // many places of dead processes are gone, more may be left: look again
};

// Redis ends a key within a millisecond or so of its time.
constexpr Millis kLookMargin{5};
// Longest time from an offer to its confirmation.
constexpr Millis kOfferTime{500};
// A process that has not been heard of for this long has no place in line.
constexpr Millis kAliveTime{2000};
// Most that may follow a holder before the server is asked again.
constexpr int kFollowers = 7;
// A follower's turn begins only while the hold is younger than this.
constexpr Millis youngTime(Millis lease) {
  return lease / 8;
}
// What the last follower has of the lease, at least, when its turn begins.
constexpr Millis leastFollowerTime(Millis lease) {
  return lease - driftMargin(lease) - youngTime(lease);
}
// Places of dead processes taken out of a line in one step.
constexpr int kDeadPerStep = 1000;

}  // namespace festa::lock
