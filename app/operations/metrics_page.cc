#include "app/operations/metrics_page.h"

#include "services/error.h"

namespace festa {

MetricsPage::MetricsPage(const Metrics& metrics, const TimeSource& time)
    : metrics_(metrics),
      last_({.maxAge = std::chrono::seconds(1),
             .room = 1,
             .ageFrom = SingleFlightCache<int, Reading>::AgeFrom::kEnd},
            time),
      thread_(std::make_unique<trantor::EventLoopThread>("metrics")) {
  thread_->run();
}

MetricsPage::~MetricsPage() {
  if (thread_) stop();
}

drogon::Task<MetricsPage::Reading> MetricsPage::read() {
  {
    const std::lock_guard guard(mutex_);
    if (isStopped_) throw ServiceError(ErrorCode::kShuttingDown);
  }
  const auto readAgain = [this] { return readOnThread(); };
  const auto reading = co_await last_.get(0, readAgain);
  if (reading->failure) std::rethrow_exception(reading->failure);
  co_return reading;
}

drogon::Task<MetricsPage::Reading> MetricsPage::readOnThread() {
  auto* const loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  const auto reading = std::make_shared<MetricsReading>();
  begin();
  co_await drogon::switchThreadCoro(thread_->getLoop());
  try {
    reading->families = metrics_.collect();
    reading->text = prometheusText(reading->families);
  } catch (...) {
    reading->failure = std::current_exception();
  }
  end();
  co_await drogon::switchThreadCoro(loop);
  co_return reading;
}

// The thread stays until end().
void MetricsPage::begin() {
  const std::lock_guard guard(mutex_);
  if (isStopped_) throw ServiceError(ErrorCode::kShuttingDown);
  isReading_ = true;
}

void MetricsPage::end() {
  const std::lock_guard guard(mutex_);
  isReading_ = false;
  ended_.notify_all();
}

void MetricsPage::stop() {
  {
    std::unique_lock lock(mutex_);
    isStopped_ = true;
    ended_.wait(lock, [this] { return !isReading_; });
  }
  thread_.reset();
}

}  // namespace festa
