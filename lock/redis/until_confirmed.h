// Giving back what a lost reply may have granted.
#pragma once

#include "lock/engine/backoff.h"

#include <trantor/net/EventLoop.h>

namespace festa::lock {

// Awaits `attempt()`, a Task<bool> that does not throw, again and again until it returns true or
// the time is over: at least once. Runs by itself on the calling loop. What `attempt` refers to
// outlives that loop.
template <class Attempt>
drogon::AsyncTask untilConfirmed(Attempt attempt, SteadyTime until) {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  // Many may be at this while a server is away for long.
  Backoff backoff(Millis{100}, Millis{1600});
  do {
    const bool isConfirmed = co_await attempt();
    if (isConfirmed) co_return;
    co_await drogon::sleepCoro(loop, std::chrono::duration<double>(backoff.next(randomBits())));
  } while (SteadyClock::now() < until);
}

}  // namespace festa::lock
