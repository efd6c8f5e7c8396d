// The lock filter as a Drogon middleware.
#pragma once

#include "lock/lock_filter.h"
#include "lock/lockable.h"

#include <drogon/HttpMiddleware.h>

#include <memory>
#include <set>
#include <string>

namespace festa::lock {

// What an application answers for: where key variables come from, how a request is protected, what
// a refused one is told. Thread-safe.
class LockMiddlewareHost {
 public:
  virtual ~LockMiddlewareHost() = default;
  // Value of a key variable; nullopt: the request has none.
  virtual std::optional<std::string> variable(const drogon::HttpRequestPtr& request,
                                              std::string_view name) const = 0;
  // May throw to refuse the request: the application's exception handler answers.
  virtual Strategy strategy(const drogon::HttpRequestPtr& request,
                            const Lockable& lockable) const = 0;
  // The answer for a request that does not get to its handler.
  virtual drogon::HttpResponsePtr refuse(const drogon::HttpRequestPtr& request, LockOutcome outcome,
                                         const Lockable& lockable) const = 0;
};

// One instance per Lockable, registered with Drogon under middlewareName(lockable) and attached to
// routes by that name. Drogon runs a route without a middleware that it does not know:
// LockedRoutes checks that at start.
//
// Runs on the request's loop; see LockFilter for what it promises. The handler finds its hold by
// holdOf(). The key is given back after the handler has answered or has ended without an answer.
class LockMiddleware : public drogon::HttpMiddleware<LockMiddleware, false> {
 public:
  // `host`, `board` and `observer` outlive it. Throws KeyTemplateError when the key names a
  // variable that is not among `variables`.
  LockMiddleware(Lockable lockable, const std::set<std::string>& variables,
                 const LockMiddlewareHost& host, LockBoard& board, LockObserver& observer);

  static std::string middlewareName(const Lockable& lockable) { return "lock:" + lockable.name; }
  const std::string& className() const override { return name_; }

  // serve() for Drogon; the application's exception handler answers what it throws.
  void invoke(const drogon::HttpRequestPtr& request, drogon::MiddlewareNextCallback&& next,
              drogon::MiddlewareCallback&& answer) override;

  // The answer of `next`, under the lock, or a refusal. Throws what the host and `next` throw,
  // NoAnswer when `next` ends without an answer, and MissingKeyVariable.
  drogon::Task<drogon::HttpResponsePtr> serve(drogon::HttpRequestPtr request,
                                              drogon::MiddlewareNextCallback next) const;

 private:
  drogon::AsyncTask serveAndAnswer(drogon::HttpRequestPtr request,
                                   drogon::MiddlewareNextCallback next,
                                   drogon::MiddlewareCallback answer) const;

  const LockFilter filter_;
  const std::string name_;
  const KeyTemplate key_;
  const LockMiddlewareHost& host_;
};

// The hold of a request whose handler runs under a lock middleware, while it runs; nullptr: its
// route has none.
LockHold* holdOf(const drogon::HttpRequestPtr& request);

}  // namespace festa::lock
