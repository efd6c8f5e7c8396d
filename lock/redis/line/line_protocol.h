// What the processes and a Redis server say to each other about a line for a lock.
#pragma once

#include "lock/redis/line/line_limits.h"

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

// Takes the key if it is free and the line is empty; else stands in line (`queue`) or goes away. A
// ticket that is in line keeps its place. `brief`: the server has heard from this process lately,
// and the process knows when to look at this key; the step says neither.
struct ArriveCommand {
  LockKey key;
  std::string ticket;
  bool queue = true;
  bool brief = false;
};

// Who may have the key under the hold that a command grants, after the one to whom it is granted:
// at most `named` of those next in line, and `unnamed` waiters that the server does not know. Each
// has a fence of its own; see LineReply::Grant.
struct Following {
  int named = 0;
  int unnamed = 0;
};

// Gives the hold, the offer or the place in line of a ticket back. A hold goes to the first in line
// whose process is alive: granted by the reply when that is the caller's own process, granted or
// offered by message when not. With `next` the caller names who is next: at once when `keep` is set
// or no ticket else is in line, else `next` goes to the end of the line. `followers` have had the
// key since under the same hold; they give theirs back with it. `turns` is not sent: the turns of
// this process in a row, as far as another process may have waited.
struct LeaveCommand {
  LockKey key;
  std::string ticket;
  std::string next = {};
  bool keep = false;
  std::vector<std::string> followers = {};
  Following following = {};
  int turns = 0;
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
  Following following = {};
};

// Looks for the holder of the key. If it is free, the first in line is served as by a leave. Says
// whether `ticket`, if any, still has its place.
struct LookCommand {
  LockKey key;
  std::string ticket;
};

// This process is alive and still has waiters; its echo proves that messages arrive. Says whether
// the server still knew. With a number the process is ready: from here on a waiter directly behind
// which no other one of the process stands may be granted the key by a message that names this beat
// (GrantMessage). 0: all are offered it.
struct BeatCommand {
  std::uint64_t number = 0;
};

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
  // A ticket of the asking process became the holder in this step, with a full lease. `followers`
  // are next in line, of the same process, and asked for the same lease: they may have the key
  // under this hold, with the fences after the holder's, and keep their places meanwhile. `spare`
  // fences after those belong to this hold, too.
  struct Grant {
    std::string ticket;
    std::int64_t fence = 0;
    std::vector<std::string> followers = {};
    int spare = 0;
  };
  std::optional<Grant> grant = {};
  std::string holder = {};               // has or is offered the key now; empty: it is free
  std::optional<Millis> remaining = {};  // of that; a brief step may not say
  bool others = false;                   // leave with `keep`: other tickets are in line
  bool offered = false;     // this step has offered or granted the key to another process
  bool unfinished = false;  // many places of dead processes are gone, more may be left: look again
};

// Messages to the process of a ticket.

// The echo of a beat.
struct EchoMessage {};

// The ticket has the key if its process confirms it within kOfferTime.
struct OfferMessage {
  LockKey key;
  std::string ticket;
};

// The ticket has the key, since some time after the server has heard beat number `beat` of its
// process: count the lease from before that beat was sent.
struct GrantMessage {
  LockKey key;
  std::string ticket;
  std::int64_t fence = 0;
  std::uint64_t beat = 0;
};

using LineMessage = std::variant<EchoMessage, OfferMessage, GrantMessage>;

}  // namespace festa::lock
