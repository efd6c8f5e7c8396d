#include "lock/spin.h"

#include "lock/backoff.h"
#include "lock/random_bits.h"

#include <trantor/net/EventLoop.h>

namespace festa::lock {

namespace {

class Counted {
 public:
  explicit Counted(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<std::size_t>& count_;
};

}  // namespace

drogon::Task<std::optional<Lease>> Spin::run(Millis wait, Attempt attempt) {
  if (closed_) throw LockClosed();
  const auto deadline = SteadyClock::now() + wait;
  const auto first = co_await attempt();
  if (first || wait <= Millis{0}) co_return first;
  if (waiters_ >= settings_.maxWaiters) throw LockQueueFull();
  const Counted waiter(waiters_);
  co_return co_await askUntil(deadline, attempt);
}

drogon::Task<std::optional<Lease>> Spin::askUntil(SteadyTime deadline, Attempt attempt) const {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  Backoff backoff(settings_.firstPause, settings_.longestPause);
  while (true) {
    const auto pause = backoff.next(randomBits());
    if (SteadyClock::now() + pause >= deadline) co_return std::nullopt;
    co_await drogon::sleepCoro(loop, std::chrono::duration<double>(pause));
    if (closed_) throw LockClosed();
    const auto next = co_await attempt();
    if (next) co_return next;
  }
}

}  // namespace festa::lock
