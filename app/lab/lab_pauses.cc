#include "app/lab/lab_pauses.h"

#include <trantor/net/EventLoop.h>

#include <coroutine>

namespace festa {

// Lives in the frame of the coroutine that pauses; awaited and finished on one loop, so that its
// end cannot overtake the suspension.
class LabPauses::Pause {
 public:
  Pause(LabPauses& pauses, std::chrono::milliseconds time) : pauses_(pauses), time_(time) {}
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

  trantor::EventLoop* loop() const { return loop_; }
  void resume() const { handle_.resume(); }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    handle_ = handle;
    const auto id = pauses_.add(*this);
    if (id == 0) return false;
    loop_->runAfter(std::chrono::duration<double>(time_),
                    [&pauses = pauses_, id] { pauses.finish(id); });
    return true;
  }
  void await_resume() const noexcept {}

 private:
  LabPauses& pauses_;
  const std::chrono::milliseconds time_;
  trantor::EventLoop* const loop_ = trantor::EventLoop::getEventLoopOfCurrentThread();
  std::coroutine_handle<> handle_;
};

LabPauses::Id LabPauses::add(Pause& pause) {
  const std::lock_guard guard(mutex_);
  if (ended_) return 0;
  running_.emplace(++last_, &pause);
  return last_;
}

// The first end counts.
void LabPauses::finish(Id id) {
  const Pause* pause = nullptr;
  {
    const std::lock_guard guard(mutex_);
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    pause = found->second;
    running_.erase(found);
  }
  pause->resume();
}

drogon::Task<> LabPauses::pause(std::chrono::milliseconds time) {
  Pause pause(*this, time);
  co_await pause;
}

void LabPauses::end() {
  const std::lock_guard guard(mutex_);
  ended_ = true;
  for (const auto& [id, pause] : running_)
    pause->loop()->queueInLoop([this, id = id] { finish(id); });
}

}  // namespace festa
