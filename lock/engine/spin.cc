#include "lock/engine/spin.h"

#include <trantor/net/EventLoop.h>

namespace festa::lock {

Spin::Wait::Wait(Spin& spin, Millis wait)
    : spin_(spin),
      wait_(wait),
      deadline_(SteadyClock::now() + wait),
      backoff_(spin.settings_.firstPause, spin.settings_.longestPause) {
  if (spin_.closed_) throw LockClosed();
}

Spin::Wait::~Wait() {
  if (isCounted_) --spin_.waiters_;
}

drogon::Task<bool> Spin::Wait::pause() {
  if (wait_ <= Millis{0}) co_return false;
  if (!isCounted_) {
    if (spin_.waiters_ >= spin_.settings_.maxWaiters) throw LockQueueFull();
    ++spin_.waiters_;
    isCounted_ = true;
  }
  const auto pause = backoff_.next(randomBits());
  if (SteadyClock::now() + pause >= deadline_) co_return false;
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  co_await drogon::sleepCoro(loop, std::chrono::duration<double>(pause));
  if (spin_.closed_) throw LockClosed();
  co_return true;
}

}  // namespace festa::lock
