#include "lock/lock_hold.h"

#include <trantor/utils/Logger.h>

#include <algorithm>

namespace festa::lock {

std::optional<Lease> LockHold::lease() const {
  const std::lock_guard guard(mutex_);
  return lease_;
}

SteadyTime LockHold::validUntil() const {
  const std::lock_guard guard(mutex_);
  return lease_ ? lease_->validUntil : SteadyTime::max();
}

void LockHold::grant(Lease lease) {
  const std::lock_guard guard(mutex_);
  lease_ = std::move(lease);
  state_ = State::kHeld;
}

// The lease, if it may still be changed.
std::optional<Lease> LockHold::held() const {
  const std::lock_guard guard(mutex_);
  return state_ == State::kHeld ? lease_ : std::nullopt;
}

// Callers hold mutex_.
void LockHold::lose() {
  state_ = State::kLost;
  lease_->validUntil = SteadyTime::min();
}

drogon::Task<std::optional<std::int64_t>> LockHold::renewFence(std::int64_t above) {
  auto renewed = held();
  if (!renewed) co_return std::nullopt;
  Extension extension;
  extension.fenceAbove = above;
  const bool extended = co_await strategy_.storage->extend(*renewed, extension);
  const std::lock_guard guard(mutex_);
  if (state_ != State::kHeld) co_return std::nullopt;
  if (!extended) {
    lose();
    co_return std::nullopt;
  }
  lease_->fence = std::max(lease_->fence, renewed->fence);
  co_return renewed->fence;
}

drogon::Task<RenewalOutcome> LockHold::renewLease(Millis lease) {
  auto renewed = held();
  if (!renewed) co_return RenewalOutcome::kOver;
  std::optional<bool> extended;  // nullopt: no answer
  if (SteadyClock::now() < renewed->validUntil) {
    Extension extension;
    extension.lease = lease;
    try {
      extended = co_await strategy_.storage->extend(*renewed, extension);
    } catch (const std::exception& error) {
      LOG_WARN << "a lease was not renewed: " << error.what();
    }
  }
  co_return settle(*renewed, extended);
}

RenewalOutcome LockHold::settle(const Lease& renewed, std::optional<bool> extended) {
  const std::lock_guard guard(mutex_);
  if (state_ != State::kHeld) return RenewalOutcome::kOver;
  if (extended == false || SteadyClock::now() >= lease_->validUntil) {
    lose();
    return RenewalOutcome::kLost;
  }
  if (!extended) return RenewalOutcome::kFailed;
  lease_->validUntil = renewed.validUntil;
  return RenewalOutcome::kRenewed;
}

void LockHold::leaveToExpire() {
  const std::lock_guard guard(mutex_);
  if (state_ != State::kReleased) state_ = State::kLeft;
}

bool LockHold::leftToExpire() const {
  const std::lock_guard guard(mutex_);
  return state_ == State::kLeft;
}

drogon::Task<> LockHold::releaseEarly() {
  if (lease()) co_await release();
}

// The lease to give back; nullopt: that has been asked for.
std::optional<Lease> LockHold::takeForRelease() {
  const std::lock_guard guard(mutex_);
  if (state_ == State::kReleased) return std::nullopt;
  state_ = State::kReleased;
  return lease_;
}

drogon::Task<Unlocked> LockHold::release() {
  const auto lease = takeForRelease();
  if (!lease) co_return Unlocked::kReleased;
  co_return co_await strategy_.storage->unlock(*lease);
}

}  // namespace festa::lock
