// The way of one request: limits, caller, input, idempotency, shortcut, lock filter, handler,
// answer.
#pragma once

#include "controllers/errors/error_mapping.h"
#include "controllers/errors/problem.h"
#include "controllers/http/asked.h"
#include "controllers/http/caller_check.h"
#include "controllers/http/idempotency.h"
#include "controllers/http/protection.h"
#include "controllers/json/paging.h"
#include "lock/lock_filter.h"

namespace festa {

// One valid request. Lives in the pipeline's frame while its handler runs.
template <class Input>
struct Call {
  const drogon::HttpRequestPtr& request;
  const RequestContext& context;
  Input input;

  // Of a route that is not for anyone.
  const Caller& caller() const { return *context.caller; }
};

// Immutable, thread-safe. Runs on the request's loop. Routes (routes.h) are its template arguments:
// what they read and how they answer is known to the compiler.
class Pipeline {
 public:
  // All outlive the pipeline.
  struct Parts {
    const CallerCheck& callers;
    const Idempotency& idempotency;
    const Protections& protections;
    lock::LockBoard& board;
    lock::LockObserver& lockObserver;
  };

  explicit Pipeline(Parts parts) : parts_(parts) {}

  const Parts& parts() const { return parts_; }

  // The answer to a request that has been read and has found its route. Throws ServiceError when
  // the request is refused before its handler. Exceptions of the handler become answers here.
  template <class Route>
  drogon::Task<drogon::HttpResponsePtr> serve(const Route& route,
                                              drogon::HttpRequestPtr request) const {
    auto& context = contextOf(request);
    const auto& head = route.head();
    parts_.callers.limitAddress(head, request);
    parts_.callers.identify(head, request, context);
    parts_.callers.limitCaller(head, context);
    refuseOtherPaging(*request, head.paged);
    const Asked asked(request, context);
    Call<typename Route::Input> call{request, context, route.parse(asked)};

    drogon::HttpResponsePtr response;
    if (head.isAuthenticatedWrite())
      response = co_await parts_.idempotency.repeated(request, context);
    if (!response) {
      std::exception_ptr failure;
      try {
        if constexpr (Route::kIsLocked)
          response = co_await serveLocked(route, asked, call);
        else
          response = co_await route.handle(call);
      } catch (...) {
        failure = std::current_exception();
      }
      if (failure) response = toResponse(request, failure);
      co_await parts_.idempotency.settle(context, response);
    }
    // Before the answer is sent: a read that follows the answer must see the effect.
    if (!hadNoEffect(response)) route.afterEffect(call);
    co_return response;
  }

 private:
  // The handler under its lock.
  template <class Route>
  struct LockedWork {
    const Pipeline& pipeline;
    const Route& route;
    const Call<typename Route::Input>& call;
    const Protection& protection;

    drogon::Task<drogon::HttpResponsePtr> operator()(lock::LockHold& hold) {
      // The client may have gone while its request waited. Those behind it do not wait for work
      // whose answer cannot be sent.
      if (hasGone(call.request))
        co_return problem(call.request, ServiceError(ErrorCode::kLockTimeout));
      HeldLock held(hold);
      const auto observer = pipeline.parts_.protections.observe(call.request, hold);
      WriteGuard guard = guardFor(protection, hold, held);
      guard.observer = observer.get();
      co_return co_await route.handle(call, guard);
    }
  };

  template <class Route>
  drogon::Task<drogon::HttpResponsePtr> serveLocked(const Route& route, const Asked& asked,
                                                    Call<typename Route::Input>& call) const {
    const auto& lockable = route.filter().lockable();
    const auto protection = parts_.protections.of(call.request, lockable);
    if (protection.queue != nullptr) co_return co_await route.enqueue(call, *protection.queue);
    // What is known without the lock. Returned, not thrown: most requests of a rush end here, and
    // an exception costs more than the answer.
    if (!protection.isAlone) {
      const auto known = route.shortcut(call);
      if (known) co_return problem(call.request, ServiceError(*known));
    }
    co_await route.prepare(call.input);
    LockedWork<Route> work{*this, route, call, protection};
    const auto answer =
        co_await route.filter().run(call.request, protection.lock, route.key(asked), work);
    if (const auto* const refusal = std::get_if<lock::LockOutcome>(&answer))
      co_return lockRefusal(call.request, *refusal, lockable);
    co_return std::get<drogon::HttpResponsePtr>(answer);
  }

  const Parts parts_;
};

}  // namespace festa
