// When a process tells the server that it is alive, and whether it hears the server's messages.
#pragma once

#include "lock/lock_storage.h"

#include <optional>

namespace festa::lock {

// Beats while somebody is in line. Each beat is echoed by message: a beat whose echo has not come
// until the next one is due shows that messages are lost. Decisions only: no clock, no I/O. Not
// thread-safe.
class Heartbeat {
 public:
  static constexpr Millis kEvery{500};
  // While messages may be lost, offers are found by looking: more often than they expire.
  static constexpr Millis kEveryWhileDeaf{200};

  // Somebody is in line. No effect while it beats.
  void start(SteadyTime now);
  void stop() { at_.reset(); }

  bool isRunning() const { return at_.has_value(); }
  // When the next beat is due; nullopt: it does not run.
  std::optional<SteadyTime> nextAt() const { return at_; }
  bool isDue(SteadyTime now) const { return at_ && *at_ <= now; }

  // What to do now that a beat is due.
  struct Due {
    bool look = false;  // for offers whose message may have been lost
    bool send = false;  // a beat; false while the last one is under way
  };
  Due beat(SteadyTime now);

  // The beat that was sent is answered or lost.
  void ended() { isUnderWay_ = false; }
  // A message has arrived. True: earlier ones may have been lost.
  bool heard();

 private:
  enum class Messages {
    kArrive,    // one has since the last beat, or they are trusted to
    kExpected,  // the echo of the last beat is still to come
    kLost,      // none has since the last beat, or never
  };

  std::optional<SteadyTime> at_;
  bool isUnderWay_ = false;
  Messages messages_ = Messages::kLost;
};

}  // namespace festa::lock
