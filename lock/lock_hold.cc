#include "lock/lock_hold.h"

#include <trantor/utils/Logger.h>

#include <algorithm>

namespace festa::lock {

std::optional<Lease> LockHold::lease() const {
  const std::lock_guard guard(mutex_);
  return lease_;
}

namespace {

drogon::AsyncTask releaseAlone(std::shared_ptr<LockHold> hold) {
  co_await hold->release();
}

}  // namespace

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

bool LockHold::isShared() const {
  const std::lock_guard guard(mutex_);
  return lease_ && lease_->company != nullptr;
}

drogon::Task<std::vector<Company::Part*>> LockHold::gather(Company::Part& part) {
  const auto held = lease();
  if (!held || !held->company) co_return std::vector<Company::Part*>{&part};
  co_return co_await held->company->gather(held->ordinal, part);
}

void LockHold::dismiss() {
  const auto held = lease();
  if (held && held->company) held->company->dismiss();
}

void LockHold::leaveCompany() {
  const auto held = lease();
  if (held && held->company) held->company->leave(held->ordinal);
}

void LockHold::leaveToExpire() {
  const std::lock_guard guard(mutex_);
  if (state_ != State::kReleased) state_ = State::kLeft;
}

bool LockHold::leftToExpire() const {
  const std::lock_guard guard(mutex_);
  return state_ == State::kLeft;
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
  std::optional<Unlocked> unlocked;
  if (lease) unlocked = co_await strategy_.storage->unlock(*lease);
  const std::lock_guard guard(mutex_);
  if (unlocked) unlocked_ = *unlocked;
  co_return unlocked_;
}

void LockHold::finish() {
  {
    const std::lock_guard guard(mutex_);
    if (state_ != State::kHeld) return;
    finishedAt_ = std::min(SteadyClock::now(), lease_->validUntil);
  }
  releaseAlone(shared_from_this());
}

SteadyTime LockHold::reliedUntil() const {
  const std::lock_guard guard(mutex_);
  if (finishedAt_) return *finishedAt_;
  return lease_ ? std::min(SteadyClock::now(), lease_->validUntil) : SteadyClock::now();
}

}  // namespace festa::lock
