// The server's side of line_protocol.h on a virtual clock: what the scripts do, in C++. A test
// against a real server keeps the two alike; the simulation runs on this one.
#pragma once

#include "lock/redis/line/line_protocol.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace festa::test {

class LineModel {
 public:
  // Mistakes that a simulation must notice.
  enum class Bug {
    kNone,
    kAnyoneMayLeave,
    kHoldIsIgnored,
    kNobodyIsServed,
    kLastComesFirst,
    kFollowersHaveNoFences,
    kGrantsAreNotHeld,  // a key that was granted by message goes to the next one as well
    kPlacesStay         // of abandoned tickets
  };

  struct Message {
    std::string process;  // that hears it
    lock::LineMessage text;
  };

  explicit LineModel(Bug bug = Bug::kNone) : bug_(bug) {}

  lock::LineReply execute(const lock::LineCommand& command, const std::string& process,
                          lock::SteadyTime now);
  std::vector<Message> takeMessages() { return std::exchange(messages_, {}); }

  // Tickets that lost their places because their process did not beat.
  const std::vector<std::string>& forgotten() const { return forgotten_; }
  // All tickets in all lines.
  std::vector<std::string> places() const;

  void startEpoch(std::int64_t epoch);
  void flush();
  // What time does on a server.
  void expireHold(const lock::LockKey& key) { keys_[key].hold.reset(); }
  void expireAlive(const std::string& process) { alive_.erase(process); }

 private:
  struct Hold {
    std::string ticket;
    lock::SteadyTime until;
  };
  struct Life {
    lock::SteadyTime until;
    std::uint64_t beat = 0;  // see lock::BeatCommand
  };
  struct Key {
    std::optional<Hold> hold;
    std::string offer;
    std::map<std::uint64_t, std::string> line;
  };
  struct Step;

  const Bug bug_;
  std::map<lock::LockKey, Key> keys_;
  std::map<std::string, Life> alive_;
  std::optional<std::int64_t> fence_;
  std::uint64_t arrivals_ = 0;
  std::vector<Message> messages_;
  std::vector<std::string> forgotten_;
};

}  // namespace festa::test
