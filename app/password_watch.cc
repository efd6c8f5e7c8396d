#include "app/password_watch.h"

#include "app/log.h"

#include <future>

namespace festa {

namespace {

// Longer than clients wait for an answer.
constexpr std::chrono::seconds kLongestLook{5};

}  // namespace

void PasswordWatch::start(trantor::EventLoop* loop) {
  loop_ = loop;
  loop->queueInLoop([self = shared_from_this()] { self->look(); });
  loop->runEvery(every_, [self = shared_from_this()] { self->look(); });
}

void PasswordWatch::stop() {
  const auto stopped = std::make_shared<std::promise<void>>();
  loop_->queueInLoop([self = shared_from_this(), stopped] {
    const bool isLooking = self->state_ == State::kLooking;
    self->state_ = State::kStopped;
    if (isLooking)
      self->onIdle_ = [stopped] { stopped->set_value(); };
    else
      stopped->set_value();
  });
  stopped->get_future().wait_for(kLongestLook);
}

drogon::AsyncTask PasswordWatch::look() {
  if (state_ != State::kIdle) co_return;
  state_ = State::kLooking;
  const auto self = shared_from_this();
  std::string failure;
  try {
    co_await readPasswordVersions(database_.watchClient(), versions_);
  } catch (const std::exception& error) {
    failure = *error.what() == '\0' ? "unknown" : error.what();
  }
  report(failure);
  if (state_ == State::kLooking) state_ = State::kIdle;
  if (onIdle_) onIdle_();
}

// Said once, not every second.
void PasswordWatch::report(const std::string& failure) {
  const bool fails = !failure.empty();
  if (fails && !hasFailed_)
    LogLine("passwords", "warn")
        .with("text",
              "changed passwords cannot be read; tokens are judged by what was known last: " +
                  failure);
  if (!fails && hasFailed_) LogLine("passwords").with("text", "changed passwords are read again");
  hasFailed_ = fails;
}

}  // namespace festa
