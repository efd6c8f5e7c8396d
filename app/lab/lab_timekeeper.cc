#include "app/lab/lab_timekeeper.h"

#include <drogon/HttpAppFramework.h>

namespace festa {

namespace {

const std::string kAttribute = "festa.lab.times";
constexpr const char* kHeader = "X-Lab-Times";

using TimesPtr = std::shared_ptr<LabTimes>;

std::int64_t nanos(lock::SteadyClock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

class TimedWrites : public WriteObserver {
 public:
  TimedWrites(drogon::HttpRequestPtr request, LabTimes& times, std::unique_ptr<WriteObserver> inner)
      : request_(std::move(request)), times_(times), inner_(std::move(inner)) {}

  drogon::Task<> committing() override {
    times_.committing = LabTimekeeper::now();
    return inner_->committing();
  }
  void poolWaited(std::chrono::steady_clock::duration wait) override {
    times_.begun = LabTimekeeper::now();
    inner_->poolWaited(wait);
  }
  void fenceRefused() override { inner_->fenceRefused(); }
  void fenceRenewed() override { inner_->fenceRenewed(); }
  void conflictRepeated() override { inner_->conflictRepeated(); }
  void commitUnknown(Resolution found) override { inner_->commitUnknown(found); }

 private:
  const drogon::HttpRequestPtr request_;  // owns the times
  LabTimes& times_;
  const std::unique_ptr<WriteObserver> inner_;
};

}  // namespace

std::int64_t LabTimekeeper::now() {
  return nanos(lock::SteadyClock::now().time_since_epoch());
}

void LabTimekeeper::install() {
  drogon::app().registerPreSendingAdvice(
      [](const drogon::HttpRequestPtr& request, const drogon::HttpResponsePtr& response) {
        const auto* const times = timesOf(request);
        if (times != nullptr) response->addHeader(kHeader, textOf(*times));
      });
}

void LabTimekeeper::attend(const drogon::HttpRequestPtr& request) const {
  if (request->getHeader(kHeader) != "on") return;
  auto times = std::make_shared<LabTimes>();
  times->instance = instance_;
  request->attributes()->insert(kAttribute, std::move(times));
}

LabTimes* LabTimekeeper::timesOf(const drogon::HttpRequestPtr& request) {
  const auto& attributes = request->attributes();
  return attributes->find(kAttribute) ? attributes->get<TimesPtr>(kAttribute).get() : nullptr;
}

std::unique_ptr<WriteObserver> LabTimekeeper::observe(const drogon::HttpRequestPtr& request,
                                                      std::unique_ptr<WriteObserver> inner) {
  auto* const times = timesOf(request);
  if (times == nullptr) return inner;
  return std::make_unique<TimedWrites>(request, *times, std::move(inner));
}

void LabTimekeeper::finished(const drogon::HttpRequestPtr& request,
                             const lock::LockRecord& record) {
  inner_.finished(request, record);
  auto* const times = timesOf(request);
  if (times == nullptr) return;
  const bool ran = record.granted != lock::SteadyTime{};
  const auto moment = now();
  times->outcome = nameOf(record.outcome);
  times->fence = record.fence;
  if (!ran) {
    times->asked = moment - nanos(record.wait);
    return;
  }
  times->granted = nanos(record.granted.time_since_epoch());
  times->asked = times->granted - nanos(record.wait);
  if (record.fence > 0) times->received = nanos(record.received.time_since_epoch());
  times->ended = nanos(record.ended.time_since_epoch());
  if (times->released == 0) times->released = times->granted + nanos(record.hold);
}

}  // namespace festa
