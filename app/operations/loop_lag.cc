#include "app/operations/loop_lag.h"

#include <trantor/net/EventLoop.h>

#include <chrono>

namespace festa {

namespace {

constexpr double kMeasureEvery = 0.05;

}  // namespace

void LoopLag::watch(trantor::EventLoop* loop) {
  loop->queueInLoop([self = shared_from_this(), loop] { self->tick(loop); });
}

void LoopLag::tick(trantor::EventLoop* loop) {
  const auto asked = std::chrono::steady_clock::now();
  loop->runAfter(kMeasureEvery, [self = shared_from_this(), loop, asked] {
    const auto now = std::chrono::steady_clock::now();
    self->late_.add(std::chrono::duration<double>(now - asked).count() - kMeasureEvery, now);
    self->tick(loop);
  });
}

}  // namespace festa
