#include "lock/lock_middleware.h"

#include "lock/next_answer.h"

#include <drogon/HttpAppFramework.h>
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

std::optional<std::int64_t> fenceOf(const LockHold& hold) {
  const auto lease = hold.lease();
  return lease ? std::optional(lease->fence) : std::nullopt;
}

void answerFailure(const std::exception_ptr& failure, const drogon::HttpRequestPtr& request,
                   drogon::MiddlewareCallback answer) {
  const auto& handler = drogon::app().getExceptionHandler();
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    handler(error, request, std::move(answer));
  } catch (...) {
    handler(std::runtime_error("something was thrown that is not a std::exception"), request,
            std::move(answer));
  }
}

}  // namespace

LockMiddleware::LockMiddleware(Lockable lockable, const std::set<std::string>& variables,
                               LockMiddlewareContext context)
    : lockable_(std::move(lockable)),
      name_(middlewareName(lockable_)),
      key_(KeyTemplate::compile(lockable_.key, variables)),
      context_(std::move(context)) {}

void LockMiddleware::invoke(const drogon::HttpRequestPtr& request,
                            drogon::MiddlewareNextCallback&& next,
                            drogon::MiddlewareCallback&& answer) {
  serveAndAnswer(request, std::move(next), std::move(answer));
}

drogon::AsyncTask LockMiddleware::serveAndAnswer(drogon::HttpRequestPtr request,
                                                 drogon::MiddlewareNextCallback next,
                                                 drogon::MiddlewareCallback answer) const {
  drogon::HttpResponsePtr response;
  std::exception_ptr failure;
  try {
    response = co_await serve(request, std::move(next));
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure)
    answerFailure(failure, request, std::move(answer));
  else
    answer(response);
}

drogon::Task<drogon::HttpResponsePtr> LockMiddleware::serve(
    drogon::HttpRequestPtr request, drogon::MiddlewareNextCallback next) const {
  const auto arrived = SteadyClock::now();
  const auto lookup = [&](std::string_view name) { return context_.variable(request, name); };
  const auto hold = std::make_shared<LockHold>(lockable_.name, context_.plan(request, lockable_),
                                               key_.render(lookup));

  if (context_.board->isFull()) co_return refuse(request, *hold, LockOutcome::kOverloaded, arrived);
  LockBoard::Entry entry(*context_.board, lockable_.name, hold->plan().strategy.name, hold->key());
  const auto refusal = co_await acquire(*hold);
  if (refusal) co_return refuse(request, *hold, *refusal, arrived);

  const auto granted = SteadyClock::now();
  entry.holds(fenceOf(*hold));
  attachHold(request, hold);
  const auto watchdog = watch(hold, granted);
  NextAnswer handler(std::move(next));
  drogon::HttpResponsePtr response;
  std::exception_ptr failure;
  try {
    response = co_await handler;
  } catch (...) {
    failure = std::current_exception();
  }
  const auto ended = std::min(SteadyClock::now(), hold->validUntil());
  const LockOutcome outcome = co_await release(*hold);
  const LockRecord record{lockable_.name,
                          hold->plan().strategy.name,
                          hold->key(),
                          outcome,
                          granted - arrived,
                          SteadyClock::now() - granted,
                          fenceOf(*hold).value_or(0),
                          granted,
                          ended};
  context_.observer->finished(request, record);
  if (failure) std::rethrow_exception(failure);
  co_return response;
}

// nullopt: go ahead.
drogon::Task<std::optional<LockOutcome>> LockMiddleware::acquire(LockHold& hold) const {
  const auto& storage = hold.plan().strategy.storage;
  if (!storage) co_return std::nullopt;
  try {
    auto lease = co_await takeInTime(storage, hold.key());
    if (!lease) co_return lockable_.failFast ? LockOutcome::kBusy : LockOutcome::kTimedOut;
    hold.grant(std::move(*lease));
    co_return std::nullopt;
  } catch (const LockQueueFull&) {
    co_return LockOutcome::kOverloaded;
  } catch (const LockClosed&) {
    co_return LockOutcome::kClosed;
  } catch (const LockStorageUnavailable& error) {
    LOG_WARN << "lock storage " << hold.plan().strategy.name << " is unavailable: " << error.what();
    co_return LockOutcome::kUnavailable;
  }
}

// A lease that is not over; nullopt: busy.
drogon::Task<std::optional<Lease>> LockMiddleware::takeInTime(std::shared_ptr<LockStorage> storage,
                                                              LockKey key) const {
  const auto wait = lockable_.failFast ? Millis{0} : lockable_.wait;
  const auto deadline = SteadyClock::now() + wait;
  LockRequest request{key, wait, lockable_.lease};
  for (bool isFirst = true;; isFirst = false) {
    auto lease = co_await storage->tryLock(request);
    if (!lease || SteadyClock::now() < lease->validUntil) co_return lease;
    const Lease late = std::move(*lease);
    co_await storage->unlock(late);
    // A storage that grants at once what is over at once must not keep the loop busy.
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.001);
    request.wait = std::max(Millis{0}, std::chrono::ceil<Millis>(deadline - SteadyClock::now()));
    const bool mayAsk = wait > Millis{0} ? request.wait > Millis{0} : isFirst;
    if (!mayAsk) co_return std::nullopt;
  }
}

// nullptr: the lease is never renewed.
std::shared_ptr<Watchdog> LockMiddleware::watch(const std::shared_ptr<LockHold>& hold,
                                                SteadyTime granted) const {
  if (lockable_.maxHold <= Millis{0} || !hold->lease()) return nullptr;
  auto watchdog = std::make_shared<Watchdog>(
      trantor::EventLoop::getEventLoopOfCurrentThread(), hold,
      Renewal(lockable_.lease, lockable_.maxHold, granted), context_.observer);
  watchdog->start();
  return watchdog;
}

drogon::Task<LockOutcome> LockMiddleware::release(LockHold& hold) const {
  if (!hold.lease()) co_return LockOutcome::kUnlocked;
  if (hold.leftToExpire()) co_return LockOutcome::kLeftToExpire;
  const auto unlocked = co_await hold.release();
  switch (unlocked) {
    case Unlocked::kReleased: co_return LockOutcome::kReleased;
    case Unlocked::kLost: co_return LockOutcome::kLost;
    case Unlocked::kUnknown: co_return LockOutcome::kReleaseUnknown;
  }
  co_return LockOutcome::kReleaseUnknown;
}

drogon::HttpResponsePtr LockMiddleware::refuse(const drogon::HttpRequestPtr& request,
                                               const LockHold& hold, LockOutcome outcome,
                                               SteadyTime arrived) const {
  const LockRecord record{lockable_.name, hold.plan().strategy.name, hold.key(), outcome,
                          SteadyClock::now() - arrived};
  context_.observer->finished(request, record);
  return context_.refuse(request, outcome, lockable_);
}

}  // namespace festa::lock
