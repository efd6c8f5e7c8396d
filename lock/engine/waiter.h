// One coroutine that waits for its turn at a lock.
#pragma once

#include "lock/lock_storage.h"

#include <trantor/net/EventLoop.h>

#include <coroutine>
#include <exception>
#include <utility>

namespace festa::lock {

// A local variable of that coroutine. Finished exactly once, from any thread, and not used by the
// finisher afterwards; the coroutine resumes on its own loop, where it also suspended, so that the
// end cannot overtake the suspension.
class Waiter {
 public:
  // On the loop of the coroutine that will wait.
  Waiter() : loop_(trantor::EventLoop::getEventLoopOfCurrentThread()) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void grant(Lease lease) {
    lease_ = std::move(lease);
    resume();
  }
  // The same, and the coroutine runs at once if this is its loop: for callers that come out of the
  // loop's queue themselves and hold no mutex.
  void grantNow(Lease lease) {
    keep(std::move(lease));
    resumeNow();
  }
  // grantNow() in two steps.
  void keep(Lease lease) { lease_ = std::move(lease); }
  void resumeNow() {
    if (loop_->isInLoopThread())
      handle_.resume();
    else
      resume();
  }
  // Waited in vain.
  void giveUp() { resume(); }
  void fail(std::exception_ptr error) {
    error_ = std::move(error);
    resume();
  }

  // What the coroutine awaits. Refers to the waiter instead of being it: GCC 12 copies an awaited
  // lvalue.
  class Turn {
   public:
    explicit Turn(Waiter& waiter) : waiter_(waiter) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { waiter_.handle_ = handle; }
    std::optional<Lease> await_resume() const {
      if (waiter_.error_) std::rethrow_exception(waiter_.error_);
      return std::move(waiter_.lease_);
    }

   private:
    Waiter& waiter_;
  };

  trantor::EventLoop* loop() const { return loop_; }

 private:
  void resume() {
    loop_->queueInLoop([this] { handle_.resume(); });
  }

  trantor::EventLoop* const loop_;
  std::coroutine_handle<> handle_;
  std::optional<Lease> lease_;
  std::exception_ptr error_;
};

}  // namespace festa::lock
