// Event loops for tests, and coroutines run on them to their end.
#pragma once

#include "tests/support/kept_forever.h"

#include <drogon/utils/coroutine.h>
#include <openssl/crypto.h>
#include <trantor/net/EventLoop.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace festa::test {

constexpr std::chrono::seconds kPatience{20};  // a test that waits longer has hung

// At exit OpenSSL would free its tables under loops that still run and hash a script. The first who
// calls decides, so before main().
inline const bool kOpenSslStays = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;

// A thread that runs an event loop until it is destroyed. The loop itself is kept to the end of the
// program: clients outlive their tests, and queue late replies on it. They are never executed.
class LoopThread {
 public:
  LoopThread() : thread_([this] { run(); }), loop_(running_.get_future().get()) {}
  ~LoopThread() {
    loop_->quit();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  trantor::EventLoop* loop() const { return loop_; }

 private:
  void run() {
    auto& loop = keptForever(std::make_unique<trantor::EventLoop>());
    // A loop resets its quit flag when it starts, so it has to run before it can be ended.
    loop.queueInLoop([this, &loop] { running_.set_value(&loop); });
    loop.loop();
  }

  std::promise<trantor::EventLoop*> running_;
  std::thread thread_;
  trantor::EventLoop* const loop_;
};

// Some event loops on threads of their own. They end with this, and so do the timers and retries of
// all storages that were used on them: a test that is over takes no time from the next ones. What
// a coroutine on the loops refers to is destroyed after the loops, or waits for their coroutines.
class Loops {
 public:
  explicit Loops(std::size_t count = 1) : threads_(count) {}

  trantor::EventLoop* at(std::size_t i = 0) const { return threads_[i].loop(); }
  std::size_t size() const { return threads_.size(); }

 private:
  std::vector<LoopThread> threads_;
};

namespace detail {

template <class Make, class Result>
drogon::AsyncTask drive(Make make, std::shared_ptr<std::promise<Result>> done) {
  try {
    if constexpr (std::is_void_v<Result>) {
      co_await make();
      done->set_value();
    } else {
      done->set_value(co_await make());
    }
  } catch (...) {
    done->set_exception(std::current_exception());
  }
}

}  // namespace detail

// Starts `make() -> Task<T>` on the loop. The callable is kept alive until the task has ended.
template <class Make>
auto startOn(trantor::EventLoop* loop, Make make) {
  using Result = std::decay_t<drogon::await_result_t<std::invoke_result_t<Make&>>>;
  auto done = std::make_shared<std::promise<Result>>();
  auto future = done->get_future();
  loop->queueInLoop([make = std::move(make), done] { detail::drive<Make, Result>(make, done); });
  return future;
}

template <class T>
T finish(std::future<T> future) {
  if (future.wait_for(kPatience) != std::future_status::ready)
    throw std::runtime_error("the coroutine has hung");
  return future.get();
}

template <class Make>
auto runOn(trantor::EventLoop* loop, Make make) {
  return finish(startOn(loop, std::move(make)));
}

// Waits for a condition; false when it did not come true within the patience.
inline bool eventually(const std::function<bool()>& condition,
                       std::chrono::milliseconds patience = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace festa::test
