#include "lock/engine/watchdog.h"

#include <algorithm>

namespace festa::lock {

Watchdog::Watchdog(trantor::EventLoop* loop, std::shared_ptr<LockHold> hold, Renewal renewal,
                   LockObserver& observer)
    : loop_(loop), hold_(std::move(hold)), renewal_(renewal), observer_(observer) {}

void Watchdog::schedule() {
  const auto due = renewal_.due();
  if (!due) return;
  const std::chrono::duration<double> pause = *due - SteadyClock::now();
  loop_->runAfter(std::max(0.0, pause.count()), [weak = weak_from_this()] {
    if (auto self = weak.lock()) renew(std::move(self));
  });
}

drogon::AsyncTask Watchdog::renew(std::shared_ptr<Watchdog> self) {
  const auto asked = SteadyClock::now();
  const auto lease = self->renewal_.leaseFrom(asked);
  if (lease <= Millis{0}) co_return;
  const auto outcome = co_await self->hold_->renewLease(lease);
  if (outcome == RenewalOutcome::kOver) co_return;
  self->observer_.renewed(self->hold_->lockable(), self->hold_->strategy().name, outcome);
  if (outcome == RenewalOutcome::kLost) co_return;
  if (outcome == RenewalOutcome::kRenewed)
    self->renewal_.renewed(asked);
  else
    self->renewal_.failed(SteadyClock::now());
  self->schedule();
}

}  // namespace festa::lock
