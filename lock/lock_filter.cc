#include "lock/lock_filter.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

#include <algorithm>

namespace festa::lock {

const char* nameOf(LockOutcome outcome) {
  switch (outcome) {
    case LockOutcome::kUnlocked: return "unlocked";
    case LockOutcome::kReleased: return "released";
    case LockOutcome::kLost: return "lost";
    case LockOutcome::kReleaseUnknown: return "release_unknown";
    case LockOutcome::kLeftToExpire: return "left_to_expire";
    case LockOutcome::kBusy: return "busy";
    case LockOutcome::kTimedOut: return "timed_out";
    case LockOutcome::kOverloaded: return "overloaded";
    case LockOutcome::kClosed: return "closed";
    case LockOutcome::kUnavailable: return "unavailable";
  }
  return "?";
}

const char* nameOf(RenewalOutcome outcome) {
  switch (outcome) {
    case RenewalOutcome::kRenewed: return "renewed";
    case RenewalOutcome::kFailed: return "failed";
    case RenewalOutcome::kLost: return "lost";
    case RenewalOutcome::kOver: return "over";
  }
  return "?";
}

namespace {

// A storage that does not tell had it when it was granted.
SteadyTime receivedOf(const LockHold& hold, SteadyTime granted) {
  return hold.received() != SteadyTime{} ? hold.received() : granted;
}

std::string holdId(const LockHold& hold) {
  return hold.company() != nullptr ? hold.company()->id() : "";
}

drogon::Task<LockOutcome> giveBack(LockHold& hold) {
  if (!hold.isGranted()) co_return LockOutcome::kUnlocked;
  if (hold.leftToExpire()) co_return LockOutcome::kLeftToExpire;
  const auto unlocked = co_await hold.release();
  switch (unlocked) {
    case Unlocked::kReleased: co_return LockOutcome::kReleased;
    case Unlocked::kLost: co_return LockOutcome::kLost;
    case Unlocked::kUnknown: co_return LockOutcome::kReleaseUnknown;
  }
  co_return LockOutcome::kReleaseUnknown;
}

}  // namespace

LockFilter::Passage::Passage(const LockFilter& filter, Strategy strategy, LockKey key)
    : hold(std::make_shared<LockHold>(filter.lockable_.name, std::move(strategy), std::move(key))) {
}

// nullopt: go ahead.
drogon::Task<std::optional<LockOutcome>> LockFilter::acquire(Passage& passage) const {
  if (board_.isFull()) co_return LockOutcome::kOverloaded;
  auto& hold = *passage.hold;
  passage.entry.emplace(board_, lockable_.name, hold.strategy().name, hold.key());
  const auto refusal = co_await takeKey(hold);
  if (refusal) co_return refusal;
  passage.granted = SteadyClock::now();
  passage.entry->holds(hold.fence(), hold.ordinal() > 0);
  passage.watchdog = watch(passage);
  co_return std::nullopt;
}

drogon::Task<std::optional<LockOutcome>> LockFilter::takeKey(LockHold& hold) const {
  if (hold.strategy().storage == nullptr) co_return std::nullopt;
  try {
    auto lease = co_await takeInTime(hold);
    if (!lease) co_return lockable_.failFast ? LockOutcome::kBusy : LockOutcome::kTimedOut;
    hold.grant(std::move(*lease));
    co_return std::nullopt;
  } catch (const LockQueueFull&) {
    co_return LockOutcome::kOverloaded;
  } catch (const LockClosed&) {
    co_return LockOutcome::kClosed;
  } catch (const LockStorageUnavailable& error) {
    LOG_WARN << "lock storage " << hold.strategy().name << " is unavailable: " << error.what();
    co_return LockOutcome::kUnavailable;
  }
}

// A lease that is not over; nullopt: busy.
drogon::Task<std::optional<Lease>> LockFilter::takeInTime(const LockHold& hold) const {
  auto& storage = *hold.strategy().storage;
  const auto wait = lockable_.failFast ? Millis{0} : lockable_.wait;
  const auto deadline = SteadyClock::now() + wait;
  LockRequest request{hold.key(), wait, lockable_.lease, lockable_.together};
  for (bool isFirst = true;; isFirst = false) {
    auto lease = co_await storage.tryLock(request);
    if (!lease || SteadyClock::now() < lease->validUntil) co_return lease;
    if (lease->company) lease->company->leave(lease->ordinal);
    co_await storage.unlock(std::move(*lease));
    // A storage that grants at once what is over at once must not keep the loop busy.
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.001);
    request.wait = std::max(Millis{0}, std::chrono::ceil<Millis>(deadline - SteadyClock::now()));
    const bool mayAsk = wait > Millis{0} ? request.wait > Millis{0} : isFirst;
    if (!mayAsk) co_return std::nullopt;
  }
}

std::shared_ptr<Watchdog> LockFilter::watch(const Passage& passage) const {
  if (lockable_.maxHold <= Millis{0} || !passage.hold->isGranted()) return nullptr;
  auto watchdog = std::make_shared<Watchdog>(
      trantor::EventLoop::getEventLoopOfCurrentThread(), passage.hold,
      Renewal(lockable_.lease, lockable_.maxHold, passage.granted), observer_);
  watchdog->start();
  return watchdog;
}

drogon::Task<> LockFilter::release(drogon::HttpRequestPtr request, Passage& passage) const {
  auto& hold = *passage.hold;
  hold.leaveCompany();
  const auto ended = hold.reliedUntil();
  const LockOutcome outcome = co_await giveBack(hold);
  // When a hold was lost is not known: now at the latest.
  const auto relied = hold.reliedUntil();
  const auto until = relied < passage.granted ? SteadyClock::now() : relied;
  const LockRecord record{lockable_.name,
                          hold.strategy().name,
                          hold.key(),
                          outcome,
                          passage.granted - passage.arrived,
                          until - passage.granted,
                          hold.fence().value_or(0),
                          passage.granted,
                          ended,
                          receivedOf(hold, passage.granted),
                          holdId(hold)};
  observer_.finished(request, record);
}

void LockFilter::tellRefused(const drogon::HttpRequestPtr& request, const Passage& passage,
                             LockOutcome outcome) const {
  const LockRecord record{lockable_.name, passage.hold->strategy().name, passage.hold->key(),
                          outcome, SteadyClock::now() - passage.arrived};
  observer_.finished(request, record);
}

}  // namespace festa::lock
