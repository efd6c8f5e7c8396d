// Pauses that requests of the lab ask for.
#pragma once

#include <drogon/utils/coroutine.h>
#include <trantor/net/EventLoop.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace festa {

// Thread-safe. Must outlive the event loops on which it is used.
class LabPauses {
 public:
  // Awaited on an event loop, which it does not block. Resumes there when the time has passed, or
  // at most kLook after end().
  drogon::Task<> pause(std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!isOver_) {
      const Seconds left = until - std::chrono::steady_clock::now();
      if (left.count() <= 0) co_return;
      auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
      co_await drogon::sleepCoro(loop, std::min(left, kLook));
    }
  }

  // Ends all pauses, and every later one at once. On any thread.
  void end() { isOver_ = true; }

 private:
  using Seconds = std::chrono::duration<double>;
  static constexpr Seconds kLook{0.02};

  std::atomic<bool> isOver_{false};
};

}  // namespace festa
