#include "lock/lock_hold.h"

#include <trantor/utils/Logger.h>

#include <algorithm>

namespace festa::lock {

namespace {

drogon::AsyncTask releaseAlone(std::shared_ptr<LockHold> hold) {
  co_await hold->release();
}

}  // namespace

std::optional<std::int64_t> LockHold::fence() const {
  const std::lock_guard guard(mutex_);
  return isGranted_ ? std::optional(lease_.fence) : std::nullopt;
}

SteadyTime LockHold::validUntil() const {
  const std::lock_guard guard(mutex_);
  return isGranted_ ? lease_.validUntil : SteadyTime::max();
}

void LockHold::grant(Lease lease) {
  const std::lock_guard guard(mutex_);
  isGranted_ = true;
  received_ = lease.received;
  company_ = std::move(lease.company);
  ordinal_ = lease.ordinal;
  lease_ = std::move(lease);
  state_ = State::kHeld;
}

// A second name of the hold, if it may still be changed: it may be given back meanwhile.
std::optional<Lease> LockHold::toExtend() const {
  const std::lock_guard guard(mutex_);
  return state_ == State::kHeld ? std::optional(lease_.clone()) : std::nullopt;
}

// Callers hold mutex_.
void LockHold::lose() {
  state_ = State::kLost;
  lease_.validUntil = SteadyTime::min();
}

drogon::Task<std::optional<std::int64_t>> LockHold::renewFence(std::int64_t above) {
  auto renewed = toExtend();
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
  lease_.fence = std::max(lease_.fence, renewed->fence);
  co_return renewed->fence;
}

drogon::Task<RenewalOutcome> LockHold::renewLease(Millis lease) {
  auto renewed = toExtend();
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
  if (extended == false || SteadyClock::now() >= lease_.validUntil) {
    lose();
    return RenewalOutcome::kLost;
  }
  if (!extended) return RenewalOutcome::kFailed;
  lease_.validUntil = renewed.validUntil;
  return RenewalOutcome::kRenewed;
}

drogon::Task<std::vector<void*>> LockHold::gatherUntyped(void* work) {
  if (!company_) co_return std::vector<void*>{work};
  co_return co_await company_->gather(ordinal_, work, this);
}

void LockHold::finishOthers() const {
  if (company_) company_->finishOthers(ordinal_);
}

void LockHold::dismiss() const {
  if (company_) company_->dismiss();
}

void LockHold::leaveCompany() const {
  if (company_) company_->leave(ordinal_);
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
  if (!isGranted_ || state_ == State::kReleased) return std::nullopt;
  state_ = State::kReleased;
  return std::move(lease_);
}

drogon::Task<Unlocked> LockHold::release() {
  auto lease = takeForRelease();
  std::optional<Unlocked> unlocked;
  if (lease) unlocked = co_await strategy_.storage->unlock(std::move(*lease));
  const std::lock_guard guard(mutex_);
  if (unlocked) unlocked_ = *unlocked;
  co_return unlocked_;
}

void LockHold::finish() {
  {
    const std::lock_guard guard(mutex_);
    if (state_ != State::kHeld) return;
    finishedAt_ = std::min(SteadyClock::now(), lease_.validUntil);
  }
  releaseAlone(shared_from_this());
}

SteadyTime LockHold::reliedUntil() const {
  const std::lock_guard guard(mutex_);
  if (finishedAt_) return *finishedAt_;
  return isGranted_ ? std::min(SteadyClock::now(), lease_.validUntil) : SteadyClock::now();
}

}  // namespace festa::lock
