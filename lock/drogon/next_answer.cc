#include "lock/drogon/next_answer.h"

#include <trantor/net/EventLoop.h>

#include <atomic>
#include <exception>
#include <utility>

namespace festa::lock {

// The first end counts.
class NextAnswer::Outcome : public std::enable_shared_from_this<NextAnswer::Outcome> {
 public:
  explicit Outcome(std::coroutine_handle<> waiting) : waiting_(waiting) {}

  void answer(const drogon::HttpResponsePtr& response) {
    if (ended_.exchange(true)) return;
    response_ = response;
    if (loop_->isInLoopThread())
      waiting_.resume();
    else
      resumeLater();
  }
  void fail(std::exception_ptr error) {
    if (ended_.exchange(true)) return;
    error_ = std::move(error);
    resumeLater();
  }
  drogon::HttpResponsePtr get() const {
    if (error_) std::rethrow_exception(error_);
    if (!response_) throw NoAnswer();
    return response_;
  }

 private:
  void resumeLater() {
    loop_->queueInLoop([self = shared_from_this()] { self->waiting_.resume(); });
  }

  trantor::EventLoop* const loop_ = trantor::EventLoop::getEventLoopOfCurrentThread();
  const std::coroutine_handle<> waiting_;
  std::atomic<bool> ended_{false};
  // written once, before the resumption that reads them
  drogon::HttpResponsePtr response_;
  std::exception_ptr error_;
};

// Owned by the callback alone: its end without a call is noticed.
class NextAnswer::Callback {
 public:
  explicit Callback(std::shared_ptr<Outcome> outcome) : outcome_(std::move(outcome)) {}
  ~Callback() { outcome_->fail(std::make_exception_ptr(NoAnswer())); }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  void operator()(const drogon::HttpResponsePtr& response) const { outcome_->answer(response); }

 private:
  const std::shared_ptr<Outcome> outcome_;
};

void NextAnswer::await_suspend(std::coroutine_handle<> handle) {
  // The coroutine may have ended, and this object with it, before next() returns.
  const auto outcome = std::make_shared<Outcome>(handle);
  const auto next = std::move(next_);
  outcome_ = outcome;
  // Kept until next() has returned: what it throws counts, not the callback that it drops by that.
  const auto callback = std::make_shared<Callback>(outcome);
  try {
    next([callback](const drogon::HttpResponsePtr& response) { (*callback)(response); });
  } catch (...) {
    outcome->fail(std::current_exception());
  }
}

drogon::HttpResponsePtr NextAnswer::await_resume() const {
  return outcome_->get();
}

}  // namespace festa::lock
