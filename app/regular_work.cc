#include "app/regular_work.h"

#include <future>

namespace festa {

namespace {

// Longer than clients wait for an answer.
constexpr std::chrono::seconds kLongestWork{5};

}  // namespace

void RegularWork::start(trantor::EventLoop* loop) {
  loop_ = loop;
  loop->queueInLoop([self = shared_from_this()] { self->runOnce(); });
  loop->runEvery(every_, [self = shared_from_this()] { self->runOnce(); });
}

void RegularWork::stop() {
  const auto stopped = std::make_shared<std::promise<void>>();
  loop_->queueInLoop([self = shared_from_this(), stopped] {
    const bool isWorking = self->state_ == State::kWorking;
    self->state_ = State::kStopped;
    if (isWorking)
      self->onIdle_ = [stopped] { stopped->set_value(); };
    else
      stopped->set_value();
  });
  stopped->get_future().wait_for(kLongestWork);
}

drogon::AsyncTask RegularWork::runOnce() {
  if (state_ != State::kIdle) co_return;
  state_ = State::kWorking;
  const auto self = shared_from_this();
  std::string failure;
  try {
    co_await work();
  } catch (const std::exception& error) {
    failure = *error.what() == '\0' ? "unknown" : error.what();
  }
  report(failure);
  if (state_ == State::kWorking) state_ = State::kIdle;
  if (onIdle_) onIdle_();
}

void RegularWork::report(const std::string& failure) {
  const bool fails = !failure.empty();
  if (fails && !hasFailed_) failed(failure);
  if (!fails && hasFailed_) recovered();
  hasFailed_ = fails;
}

}  // namespace festa
