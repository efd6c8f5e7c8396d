// Whether something blocks an event loop.
#pragma once

#include <atomic>
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

  // The longest that any of them was late since the last call, in seconds.
  double takeWorst() { return worst_.exchange(0); }

 private:
  void tick(trantor::EventLoop* loop);

  std::atomic<double> worst_{0};
};

}  // namespace festa
