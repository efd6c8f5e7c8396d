#include "app/loop_lag.h"

#include <trantor/net/EventLoop.h>

#include <chrono>

namespace festa {

namespace {

constexpr double kEvery = 0.05;

}  // namespace

void LoopLag::watch(trantor::EventLoop* loop) {
  loop->queueInLoop([self = shared_from_this(), loop] { self->tick(loop); });
}

void LoopLag::tick(trantor::EventLoop* loop) {
  const auto asked = std::chrono::steady_clock::now();
  loop->runAfter(kEvery, [self = shared_from_this(), loop, asked] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - asked;
    const double late = passed.count() - kEvery;
    auto worst = self->worst_.load();
    while (late > worst && !self->worst_.compare_exchange_weak(worst, late)) {
    }
    self->tick(loop);
  });
}

}  // namespace festa
