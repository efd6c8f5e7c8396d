#include "app/lab/lab_protections.h"

#include "controllers/http/asked.h"
#include "services/error.h"

#include <trantor/net/EventLoop.h>

namespace festa {

namespace {

using drogon::HttpRequestPtr;

struct Backstop {
  bool isOn;
  bool mayShare = true;  // see WriteGuard
};

Backstop backstopOf(const HttpRequestPtr& request) {
  const auto& wished = request->getHeader("x-backstop");
  if (wished.empty()) return {request->getHeader("x-concurrency").empty()};
  if (wished == "on") return {true};
  if (wished == "single") return {true, false};
  if (wished == "off") return {false};
  throw invalidParameter(inHeader("X-Backstop"), "on, single, off 중 하나여야 합니다.",
                         "must be on, single or off");
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

// Does what X-Lab-Fault says before COMMIT, and passes on everything else.
class FaultyWrites : public WriteObserver {
 public:
  FaultyWrites(std::unique_ptr<WriteObserver> inner, LabFault fault, lock::LockHold& hold,
               LabPauses& pauses, LabTimes* times)
      : inner_(std::move(inner)), fault_(fault), hold_(hold), pauses_(pauses), times_(times) {}

  drogon::Task<> committing() override {
    switch (fault_.kind) {
      case LabFault::Kind::kRelease: return releaseThenPause();
      case LabFault::Kind::kThrow: return throwFault();
      case LabFault::Kind::kThrowNumber: return throwNumber();
      case LabFault::Kind::kPause: return pauses_.pause(fault_.time);
    }
    return inner_->committing();
  }
  void poolWaited(std::chrono::steady_clock::duration wait) override { inner_->poolWaited(wait); }
  void fenceRefused() override { inner_->fenceRefused(); }
  void fenceRenewed() override { inner_->fenceRenewed(); }
  void conflictRepeated() override { inner_->conflictRepeated(); }
  void commitUnknown(Resolution found) override { inner_->commitUnknown(found); }

 private:
  // Wrong by design: the control that proves a test can see.
  drogon::Task<> releaseThenPause() {
    if (hold_.isGranted()) co_await hold_.release();
    if (times_ != nullptr) times_->released = LabTimekeeper::now();
    co_await drogon::sleepCoro(trantor::EventLoop::getEventLoopOfCurrentThread(), 0.02);
  }

  const std::unique_ptr<WriteObserver> inner_;
  const LabFault fault_;
  lock::LockHold& hold_;
  LabPauses& pauses_;
  LabTimes* const times_;  // of the request, which outlives its writes; may be null
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

Protection LabProtections::of(const HttpRequestPtr& request, const lock::Lockable& lockable) const {
  labFaultOf(request->getHeader("x-lab-fault"));  // refused before a lock is taken for it
  times_.attend(request);
  auto wished = lockable;
  const auto& concurrency = request->getHeader("x-concurrency");
  if (!concurrency.empty()) wished.strategy = concurrency;
  const auto* const row = findStrategy(wished.strategy);
  if (row == nullptr || !strategies_.isAvailable(*row) || !row->appliesTo(lockable.name))
    throw invalidParameter(inHeader("X-Concurrency"), "이 호출에 쓸 수 있는 전략이 아닙니다.",
                           "must be a strategy that can be used for this");
  auto protection = configured_.of(request, wished);
  const auto backstop = backstopOf(request);
  protection.isAlone = !backstop.isOn;
  protection.mayShare = backstop.mayShare;
  // A request with a fault keeps no other waiting, either.
  const bool hasFault = !request->getHeader("x-lab-fault").empty();
  protection.lock.alone = protection.isAlone || !protection.mayShare || hasFault;
  // Constraints alone are a strategy, too.
  const bool usesConstraints = protection.inside == Guard::kConstraint;
  if (protection.isAlone && !usesConstraints) protection.unguarded = &writes_;
  return protection;
}

std::unique_ptr<WriteObserver> LabProtections::observe(const HttpRequestPtr& request,
                                                       lock::LockHold& hold) const {
  auto observer = LabTimekeeper::observe(request, configured_.observe(request, hold));
  const auto fault = labFaultOf(request->getHeader("x-lab-fault"));
  if (!fault) return observer;
  return std::make_unique<FaultyWrites>(std::move(observer), *fault, hold, pauses_,
                                        LabTimekeeper::timesOf(request));
}

}  // namespace festa
