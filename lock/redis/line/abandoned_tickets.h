// Tickets whose waiters have ended while the server may still know them.
#pragma once

#include "lock/redis/line/line_protocol.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace festa::lock {

// Which of them are to be taken off the server, and when: a batch at a time, again and again until
// the server has answered, however long it is away. Without that their places stay in line, and the
// key is offered to each of them in turn. Decisions only: no clock, no threads, no I/O. Not
// thread-safe.
class AbandonedTickets {
 public:
  // Beyond this many, more are not remembered: they stay in line until it is their turn.
  static constexpr std::size_t kMost = 100'000;
  // The most that is sent at once.
  static constexpr std::size_t kCommands = 16;
  static constexpr std::size_t kTicketsPerCommand = 100;

  // `mayArrive`: a command that puts it on the server may still be on its way. The ticket is then
  // taken off a second time, a while after the first.
  void add(const LockKey& key, std::string ticket, bool mayArrive);

  // What to send now; nothing while the last commands are under way. Each is answered() or lost().
  std::vector<AbandonCommand> take(SteadyTime now);
  void answered(const AbandonCommand& command, SteadyTime now);
  void lost(const AbandonCommand& command, SteadyTime now);

  // When take() has something to send; nullopt: nothing as yet.
  std::optional<SteadyTime> nextAt() const;

  std::size_t size() const { return size_; }

 private:
  struct Late {
    SteadyTime at;
    LockKey key;
    std::string ticket;
  };

  void insert(const LockKey& key, std::string ticket);
  AbandonCommand next();

  std::map<LockKey, std::set<std::string>> waiting_;  // to be sent; no set is empty
  std::size_t size_ = 0;                              // of all sets of waiting_
  std::unordered_set<std::string> mayArrive_;         // waiting or under way for the first time
  std::deque<Late> late_;                             // the second time, by time
  std::size_t underWay_ = 0;                          // commands
  SteadyTime notBefore_;                              // a loss is not repeated at once
};

}  // namespace festa::lock
