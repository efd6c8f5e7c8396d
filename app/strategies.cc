#include "app/strategies.h"

#include "controllers/request_context.h"
#include "services/error.h"

#include <trantor/net/EventLoop.h>

namespace festa {

using drogon::HttpRequestPtr;

const std::vector<StrategyRow>& strategyTable() {
  static const std::vector<StrategyRow> table{
      {"none", false, Guard::kNone, true, false},
      {"memory", true, Guard::kNone, false, false},
      {"redis-spin", true, Guard::kNone, false, true, Needs::kRedis},
      {"redis-pubsub", true, Guard::kNone, false, true, Needs::kRedis},
      {"redis-fair", true, Guard::kNone, false, true, Needs::kRedis, false, true},
      {"redlock", true, Guard::kNone, false, true, Needs::kRedlock},
      {"pg-constraint", false, Guard::kConstraint, false, true},
      {"pg-row", false, Guard::kRowLock, false, true},
      {"pg-version", false, Guard::kVersion, false, true},
      {"pg-serializable", false, Guard::kSerializable, false, true},
      {"pg-advisory", false, Guard::kAdvisory, false, true},
      {"pg-repeatable-read", false, Guard::kRepeatableRead, true, false},
      {"queue-local", false, Guard::kNone, false, false, Needs::kNothing, true},
      {"queue-rabbitmq", false, Guard::kNone, false, true, Needs::kRabbitMq, true},
  };
  return table;
}

const StrategyRow* Strategies::find(const std::string& name) {
  for (const auto& row : strategyTable())
    if (name == row.name) return &row;
  return nullptr;
}

lock::Strategy Strategies::strategy(const StrategyRow& row) const {
  return {row.name, row.takesLock ? storages_.at(row.name) : nullptr};
}

void Strategies::close() const {
  for (const auto& [name, storage] : storages_) storage->close();
}

namespace {

bool labBackstop(const HttpRequestPtr& request) {
  const auto& wished = request->getHeader("x-backstop");
  return wished.empty() ? request->getHeader("x-concurrency").empty() : wished == "on";
}

lock::Plan labPlan(const Strategies& strategies, const HttpRequestPtr& request,
                   const lock::Lockable& lockable) {
  const auto& wished = request->getHeader("x-concurrency");
  const auto& backstop = request->getHeader("x-backstop");
  const auto* row = Strategies::find(wished.empty() ? lockable.strategy : wished);
  if (row == nullptr || !strategies.isAvailable(*row) || !row->appliesTo(lockable.name))
    throw ServiceError(ErrorCode::kInvalidParameter, "X-Concurrency is unknown, or not for this");
  if (!backstop.empty() && backstop != "on" && backstop != "off")
    throw ServiceError(ErrorCode::kInvalidParameter, "X-Backstop must be on or off");
  return {strategies.strategy(*row), labBackstop(request)};
}

drogon::Task<> releaseThenPause(std::shared_ptr<lock::LockHold> hold) {
  co_await hold->releaseEarly();
  co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.02);
}

drogon::Task<> throwFault() {
  throw std::runtime_error("fault asked for by X-Lab-Fault");
  co_return;
}

// What Drogon and the standard library do not expect.
drogon::Task<> throwNumber() {
  throw 42;
  co_return;
}

std::function<drogon::Task<>()> faultOf(const HttpRequestPtr& request,
                                        const std::shared_ptr<lock::LockHold>& hold,
                                        LabPauses& pauses) {
  static const std::string kPause = "pause-before-commit=";
  const auto& fault = request->getHeader("x-lab-fault");
  if (fault.empty()) return {};
  if (fault == "release-before-commit") return [hold] { return releaseThenPause(hold); };
  if (fault == "throw-before-commit") return [] { return throwFault(); };
  if (fault == "throw-number-before-commit") return [] { return throwNumber(); };
  if (!fault.starts_with(kPause))
    throw ServiceError(ErrorCode::kInvalidParameter, "unknown X-Lab-Fault");
  const std::chrono::milliseconds time(parseId(fault.substr(kPause.size()), "X-Lab-Fault"));
  if (time > kLongestLabPause)
    throw ServiceError(ErrorCode::kInvalidParameter, "the pause of X-Lab-Fault is too long");
  return [time, &pauses] { return pauses.pause(time); };
}

WriteGuard guardOf(const HttpRequestPtr& request, const std::shared_ptr<lock::LockHold>& hold,
                   LabPauses* lab) {
  WriteGuard guard;
  guard.inside = Strategies::find(hold->plan().strategy.name)->inside;
  guard.backstop = hold->plan().backstop;
  guard.key = hold->key();
  if (lab != nullptr) guard.beforeCommit = faultOf(request, hold, *lab);
  if (!hold->lease()) return guard;
  guard.validUntil = [hold] { return hold->validUntil(); };
  guard.commitUnknown = [hold] { hold->leaveToExpire(); };
  if (!guard.backstop) return guard;
  guard.fence = hold->lease()->fence;
  guard.renewFence = [hold](std::int64_t above) { return hold->renewFence(above); };
  return guard;
}

}  // namespace

bool wantsBackstop(const HttpRequestPtr& request, bool lab) {
  return !lab || labBackstop(request);
}

Planner makePlanner(std::shared_ptr<const Strategies> strategies, bool lab) {
  if (lab)
    return [strategies](const HttpRequestPtr& request, const lock::Lockable& lockable) {
      return labPlan(*strategies, request, lockable);
    };
  return [strategies](const HttpRequestPtr&, const lock::Lockable& lockable) {
    return lock::Plan{strategies->strategy(*Strategies::find(lockable.strategy)), true};
  };
}

GuardFactory makeGuardFactory(LabPauses* lab, std::chrono::milliseconds longestLockWait,
                              WriteObservers observers) {
  return [lab, longestLockWait, observers = std::move(observers)](const HttpRequestPtr& request) {
    const auto hold = lock::holdOf(request);
    if (!hold) throw std::logic_error("a guarded handler ran without its lock middleware");
    auto guard = guardOf(request, hold, lab);
    guard.lockWait = longestLockWait;
    if (observers) guard.observer = observers(request, *hold);
    return guard;
  };
}

}  // namespace festa
