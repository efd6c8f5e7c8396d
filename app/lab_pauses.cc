#include "app/lab_pauses.h"

#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <utility>

namespace festa {

// Made, awaited and finished on one loop, so that its end cannot overtake the suspension.
class LabPauses::Pause : public std::enable_shared_from_this<Pause> {
 public:
  Pause() : loop_(trantor::EventLoop::getEventLoopOfCurrentThread()) {}

  void finishAfter(std::chrono::milliseconds time) {
    loop_->runAfter(std::chrono::duration<double>(time), [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->resume();
    });
  }
  // On any thread.
  void finishNow() {
    loop_->queueInLoop([self = shared_from_this()] { self->resume(); });
  }

  // What the coroutine awaits. Refers to the pause instead of being it: GCC 12 copies an awaited
  // lvalue.
  class End {
   public:
    explicit End(std::shared_ptr<Pause> pause) : pause_(std::move(pause)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { pause_->handle_ = handle; }
    void await_resume() const noexcept {}

   private:
    const std::shared_ptr<Pause> pause_;
  };

 private:
  // The first end counts.
  void resume() {
    if (auto handle = std::exchange(handle_, nullptr)) handle.resume();
  }

  trantor::EventLoop* const loop_;
  std::coroutine_handle<> handle_;  // null when it is over
};

bool LabPauses::add(const std::shared_ptr<Pause>& pause) {
  const std::lock_guard guard(mutex_);
  if (!ended_) running_.insert(pause);
  return !ended_;
}

void LabPauses::remove(const std::shared_ptr<Pause>& pause) {
  const std::lock_guard guard(mutex_);
  running_.erase(pause);
}

drogon::Task<> LabPauses::pause(std::chrono::milliseconds time) {
  const auto pause = std::make_shared<Pause>();
  if (!add(pause)) co_return;
  pause->finishAfter(time);
  Pause::End end(pause);
  co_await end;
  remove(pause);
}

void LabPauses::end() {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  for (const auto& pause : running_) pause->finishNow();
}

}  // namespace festa
