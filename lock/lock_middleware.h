// Acquire, run, release around a route's handler.
#pragma once

#include "lock/key_template.h"
#include "lock/lock_board.h"
#include "lock/lock_hold.h"
#include "lock/lock_observer.h"
#include "lock/lockable.h"
#include "lock/watchdog.h"

#include <drogon/HttpMiddleware.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

namespace festa::lock {

// What the middleware needs from its surroundings; all of it outlives the middleware.
struct LockMiddlewareContext {
  // Value of a key variable for this request.
  std::function<std::optional<std::string>(const drogon::HttpRequestPtr&, std::string_view)>
      variable;
  // The strategy for this request. May throw to refuse it (the application's exception handler
  // answers).
  std::function<Plan(const drogon::HttpRequestPtr&, const Lockable&)> plan;
  // The answer for a request that does not get to its handler.
  std::function<drogon::HttpResponsePtr(const drogon::HttpRequestPtr&, LockOutcome,
                                        const Lockable&)>
      refuse;
  std::shared_ptr<LockObserver> observer;
  std::shared_ptr<LockBoard> board;
};

// One instance per Lockable, registered with Drogon under middlewareName(lockable) and attached to
// routes by that name.
//
// Runs on the request's loop. Requests over the limit of holders are refused before they queue; a
// waiter that is granted may exceed the limit by at most one per key. A lease that is over when it
// arrives (the loop was blocked, the reply was slow) is given back, and the request asks again
// while its wait lasts, without a wait once more. Whatever the handler does or throws, the key is
// given back after it, and not before it has answered or has ended without an answer; only a hold
// marked leaveToExpire() stays until its lease ends. With a maxHold the lease is renewed while the
// handler runs.
class LockMiddleware : public drogon::HttpMiddleware<LockMiddleware, false> {
 public:
  // Throws KeyTemplateError when the key names a variable that is not among `variables`.
  LockMiddleware(Lockable lockable, const std::set<std::string>& variables,
                 LockMiddlewareContext context);

  static std::string middlewareName(const Lockable& lockable) { return "lock:" + lockable.name; }
  const std::string& className() const override { return name_; }
  const Lockable& lockable() const { return lockable_; }

  // serve() for Drogon; the application's exception handler answers what it throws.
  void invoke(const drogon::HttpRequestPtr& request, drogon::MiddlewareNextCallback&& next,
              drogon::MiddlewareCallback&& answer) override;

  // The answer of `next`, under the lock, or a refusal. Throws what variable(), plan() and `next`
  // throw, NoAnswer when `next` ends without an answer, and MissingKeyVariable.
  drogon::Task<drogon::HttpResponsePtr> serve(drogon::HttpRequestPtr request,
                                              drogon::MiddlewareNextCallback next) const;

 private:
  drogon::AsyncTask serveAndAnswer(drogon::HttpRequestPtr request,
                                   drogon::MiddlewareNextCallback next,
                                   drogon::MiddlewareCallback answer) const;
  drogon::Task<std::optional<LockOutcome>> acquire(LockHold& hold) const;
  drogon::Task<std::optional<Lease>> takeInTime(std::shared_ptr<LockStorage> storage,
                                                LockKey key) const;
  std::shared_ptr<Watchdog> watch(const std::shared_ptr<LockHold>& hold, SteadyTime granted) const;
  drogon::Task<LockOutcome> release(LockHold& hold) const;
  drogon::HttpResponsePtr refuse(const drogon::HttpRequestPtr& request, const LockHold& hold,
                                 LockOutcome outcome, SteadyTime arrived) const;

  const Lockable lockable_;
  const std::string name_;
  const KeyTemplate key_;
  const LockMiddlewareContext context_;
};

}  // namespace festa::lock
