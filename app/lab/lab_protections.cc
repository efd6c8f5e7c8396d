#include "app/lab/lab_protections.h"

#include "controllers/http/asked.h"
#include "services/error.h"

#include <trantor/net/EventLoop.h>

namespace festa {

namespace {

using drogon::HttpRequestPtr;

drogon::Task<> throwFault() {
  throw std::runtime_error("fault asked for by X-Lab-Fault");
  co_return;
}

// What Drogon and the standard library do not expect.
drogon::Task<> throwNumber() {
  throw 42;
  co_return;
}

// Does what X-Lab-Fault says before COMMIT, notes the times that X-Lab-Times asks for, and tells
// `inner` everything.
class LabWriteObserver : public WriteObserver {
 public:
  LabWriteObserver(drogon::HttpRequestPtr request, std::unique_ptr<WriteObserver> inner,
                   std::optional<LabFault> fault, lock::LockHold& hold, LabPauses& pauses)
      : request_(std::move(request)),
        times_(LabTimekeeper::timesOf(request_)),
        inner_(std::move(inner)),
        fault_(fault),
        hold_(hold),
        pauses_(pauses) {}

  bool hasTestPoint() const override { return fault_ || times_ != nullptr; }
  drogon::Task<> beforeCommit() override {
    if (!fault_) return noteTime();
    switch (fault_->kind) {
      case LabFault::Kind::kRelease: return releaseThenPause();
      case LabFault::Kind::kThrow: return throwFault();
      case LabFault::Kind::kThrowNumber: return throwNumber();
      case LabFault::Kind::kPause: break;
    }
    return pauses_.pause(fault_->time);
  }
  void poolWaited(std::chrono::steady_clock::duration wait) override {
    if (times_ != nullptr) times_->begun = LabTimekeeper::now();
    inner_->poolWaited(wait);
  }
  void fenceRefused() override { inner_->fenceRefused(); }
  void fenceRenewed() override { inner_->fenceRenewed(); }
  void conflictRepeated() override { inner_->conflictRepeated(); }
  void commitUnknown(Resolution found) override { inner_->commitUnknown(found); }

 private:
  drogon::Task<> noteTime() {
    times_->committing = LabTimekeeper::now();
    co_return;
  }
  // Wrong by design: the control that proves a test can see.
  drogon::Task<> releaseThenPause() {
    if (hold_.isGranted()) co_await hold_.release();
    if (times_ != nullptr) times_->released = LabTimekeeper::now();
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.02);
  }

  const drogon::HttpRequestPtr request_;  // owns the times
  LabTimes* const times_;                 // may be null
  const std::unique_ptr<WriteObserver> inner_;
  const std::optional<LabFault> fault_;
  lock::LockHold& hold_;
  LabPauses& pauses_;
};

}  // namespace

std::optional<LabFault> labFaultOf(const std::string& text) {
  static const std::string kPause = "pause-before-commit=";
  using Kind = LabFault::Kind;
  if (text.empty()) return std::nullopt;
  if (text == "release-before-commit") return LabFault{Kind::kRelease};
  if (text == "throw-before-commit") return LabFault{Kind::kThrow};
  if (text == "throw-number-before-commit") return LabFault{Kind::kThrowNumber};
  if (!text.starts_with(kPause))
    throw invalidParameter(inHeader("X-Lab-Fault"), "이런 고장은 없습니다.",
                           "must be a fault that the lab knows");
  const std::chrono::milliseconds time(
      parseId(text.substr(kPause.size()), inHeader("X-Lab-Fault")));
  if (time > kLongestLabPause)
    throw invalidParameter(inHeader("X-Lab-Fault"), "너무 오래 멈춥니다.",
                           "must not pause for so long");
  return LabFault{Kind::kPause, time};
}

std::optional<Backstop> backstopOf(const drogon::HttpRequest& request) {
  const auto& wished = request.getHeader("x-backstop");
  if (wished == "off") return Backstop::kOff;
  if (wished == "on") return Backstop::kOn;
  if (!wished.empty()) return std::nullopt;
  return request.getHeader("x-concurrency").empty() ? Backstop::kOn : Backstop::kOff;
}

LabProtections::LabProtections(const Protections& configured, const Strategies& strategies,
                               LabPauses& pauses, const LabTimekeeper& times, Backstop backstop)
    : configured_(configured),
      strategies_(strategies),
      pauses_(pauses),
      times_(times),
      backstop_(backstop) {
  for (const auto& row : strategyTable())
    if (row.takesLock() && strategies.isAvailable(row))
      unshared_[row.name] = std::make_unique<UnsharedStorage>(*strategies.lockOf(row).storage);
}

Protection LabProtections::of(const HttpRequestPtr& request, const lock::Lockable& lockable) const {
  // Refused before a lock is taken.
  const bool hasFault = labFaultOf(request->getHeader("x-lab-fault")).has_value();
  times_.attend(request);
  auto wished = lockable;
  const auto& concurrency = request->getHeader("x-concurrency");
  if (!concurrency.empty()) wished.strategy = concurrency;
  const auto* const row = findStrategy(wished.strategy);
  if (row == nullptr || !strategies_.isAvailable(*row) || !row->appliesTo(lockable.name))
    throw invalidParameter(inHeader("X-Concurrency"), "이 호출에 쓸 수 있는 전략이 아닙니다.",
                           "must be a strategy that can be used for this");
  if (!backstopOf(*request))
    throw invalidParameter(inHeader("X-Backstop"), "on, off 중 하나여야 합니다.",
                           "must be on or off");
  auto protection = configured_.of(request, wished);
  const bool isUnshared = backstop_ == Backstop::kOff || hasFault;
  if (isUnshared && row->takesLock()) protection.lock.storage = unshared_.at(row->name).get();
  return protection;
}

WriteGuard LabProtections::guard(const Protection& protection, const lock::LockHold& hold,
                                 HeldLock& held) const {
  auto guard = configured_.guard(protection, hold, held);
  if (backstop_ == Backstop::kOff) guard.fence.reset();
  return guard;
}

std::unique_ptr<WriteObserver> LabProtections::observe(const HttpRequestPtr& request,
                                                       lock::LockHold& hold) const {
  const auto fault = labFaultOf(request->getHeader("x-lab-fault"));
  return std::make_unique<LabWriteObserver>(request, configured_.observe(request, hold), fault,
                                            hold, pauses_);
}

}  // namespace festa
