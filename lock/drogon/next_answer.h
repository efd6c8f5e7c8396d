// The answer of what a middleware encloses.
#pragma once

#include <drogon/HttpMiddleware.h>

#include <coroutine>
#include <memory>
#include <stdexcept>

namespace festa::lock {

// The handler ended without an answer.
class NoAnswer : public std::runtime_error {
 public:
  NoAnswer() : std::runtime_error("the handler ended without an answer") {}
};

// Runs the next middleware or the handler and awaits its answer. Unlike
// drogon::MiddlewareNextAwaiter it ends whatever the handler does: it throws what the handler threw
// before it first suspended, and NoAnswer when the handler dropped the callback without calling it,
// or answered with nullptr. (Drogon drops the callback of a coroutine that throws something that is
// not a std::exception.)
//
// Awaited once, on an event loop's thread; resumes on that loop.
class NextAnswer {
 public:
  explicit NextAnswer(drogon::MiddlewareNextCallback next) : next_(std::move(next)) {}
  NextAnswer(const NextAnswer&) = delete;
  NextAnswer& operator=(const NextAnswer&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle);
  drogon::HttpResponsePtr await_resume() const;

 private:
  class Outcome;
  class Callback;

  drogon::MiddlewareNextCallback next_;
  std::shared_ptr<Outcome> outcome_;
};

}  // namespace festa::lock
