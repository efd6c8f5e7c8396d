// When a process tells the server that it is alive, and whether it hears the server's messages.
#pragma once

#include "lock/redis/line/line_limits.h"

#include <cstdint>
#include <deque>
#include <optional>

namespace festa::lock {

// Beats while the process has waiters in line. Each beat is echoed by message: a beat whose echo
// has not come until the second one after it is due shows that messages are lost. While they
// arrive, beats have numbers: the server may name them in grants (BeatCommand). Decisions only: no
// clock, no I/O. Not thread-safe.
class Heartbeat {
 public:
  static constexpr Millis kEvery{250};
  // While messages may be lost, offers are found by looking: more often than they expire.
  static constexpr Millis kEveryWhileDeaf{200};

  // A waiter is in line. No effect while it beats.
  void start(SteadyTime now);
  void stop() { at_.reset(); }

  bool isRunning() const { return at_.has_value(); }
  // When the next beat is due; nullopt: it does not run.
  std::optional<SteadyTime> nextAt() const { return at_; }
  bool isDue(SteadyTime now) const { return at_ && *at_ <= now; }

  // What to do now that a beat is due.
  struct Due {
    bool look = false;         // for offers whose message may have been lost
    bool send = false;         // a beat; false while the last one is under way
    std::uint64_t number = 0;  // of that beat; 0 while messages may be lost
  };
  Due beat(SteadyTime now);

  // The beat that was sent is answered or lost.
  void ended() { isUnderWay_ = false; }
  // When this beat was sent; nullopt: too long ago, or never.
  std::optional<SteadyTime> sentAt(std::uint64_t number) const;
  // A message has arrived. True: earlier ones may have been lost.
  bool heard();

 private:
  enum class Messages {
    kArrive,    // one has since the last beat, or they are trusted to
    kExpected,  // the echo of the last beat is still to come
    kOverdue,   // that of the one before, too: the server may have paused
    kLost,      // none has for longer, or never
  };

  // Those before are too old for any lease, and at least the last one is young enough.
  static constexpr std::size_t kRemembered = 4;
  static_assert(kRemembered * kEvery >= youngTime(kLongestReadyLease));
  static_assert(kEvery <= youngTime(kShortestReadyLease));

  std::optional<SteadyTime> at_;
  std::uint64_t lastNumber_ = 0;
  std::deque<SteadyTime> sent_;  // of the last numbers, the newest last
  bool isUnderWay_ = false;
  Messages messages_ = Messages::kLost;
};

}  // namespace festa::lock
