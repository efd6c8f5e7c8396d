#include "services/periodic_task.h"

#include <trantor/net/EventLoop.h>
#include <trantor/utils/Logger.h>

namespace festa {

void PeriodicTask::start(trantor::EventLoop* loop) {
  const auto tickOnce = [self = shared_from_this()] { self->tick(); };
  if (firstRun_ == FirstRun::kAtOnce) loop->queueInLoop(tickOnce);
  loop->runEvery(interval_, tickOnce);
}

void PeriodicTask::stop(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  isStopped_ = true;
  ended_.wait_for(lock, limit, [this] { return !isRunning_; });
}

bool PeriodicTask::isStopped() const {
  const std::lock_guard guard(mutex_);
  return isStopped_;
}

bool PeriodicTask::begin() {
  const std::lock_guard guard(mutex_);
  if (isRunning_ || isStopped_) return false;
  isRunning_ = true;
  return true;
}

void PeriodicTask::end() {
  const std::lock_guard guard(mutex_);
  isRunning_ = false;
  ended_.notify_all();
}

drogon::AsyncTask PeriodicTask::tick() {
  const auto self = shared_from_this();
  if (!isDue() || !begin()) co_return;
  std::string failure;
  try {
    co_await work();
  } catch (const std::exception& error) {
    failure = *error.what() == '\0' ? "unknown" : error.what();
  }
  report(failure);
  end();
}

void PeriodicTask::report(const std::string& failure) {
  const bool fails = !failure.empty();
  if (fails && !hasFailed_) log(true, std::string(texts_.fails) + ": " + failure);
  if (!fails && hasFailed_) log(false, texts_.worksAgain);
  hasFailed_ = fails;
}

void PeriodicTask::log(bool /*fails*/, const std::string& text) const {
  LOG_WARN << text;
}

}  // namespace festa
