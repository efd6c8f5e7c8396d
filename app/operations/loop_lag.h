// Whether something blocks an event loop.
#pragma once

#include "app/operations/recent_worst.h"

#include <memory>

namespace trantor {
class EventLoop;
}

namespace festa {

// Timers on the loops that notice how late they run. Thread-safe.
class LoopLag : public std::enable_shared_from_this<LoopLag> {
 public:
  // On every loop that is to be watched, once.
  void watch(trantor::EventLoop* loop);

  // The longest that any of them was late in the last RecentWorst::kSpan, in seconds.
  double worst() { return late_.worst(std::chrono::steady_clock::now()); }

 private:
  void tick(trantor::EventLoop* loop);

  RecentWorst late_;
};

}  // namespace festa
