// The way of one request that has found its route: limits, caller, input, idempotency, early
// refusal, lock filter, handler, answer.
#pragma once

#include "controllers/errors/problem.h"
#include "controllers/http/asked.h"
#include "controllers/http/caller_check.h"
#include "controllers/http/idempotency.h"
#include "controllers/http/protection.h"
#include "controllers/http/route_table.h"
#include "controllers/json/paging.h"
#include "lock/lock_filter.h"
#include "lock/lockable.h"

#include <functional>
#include <stdexcept>

namespace festa {

// One valid request. Lives in the pipeline's frame while its handler runs.
template <class Input>
struct Call {
  const drogon::HttpRequestPtr& request;
  const RequestContext& context;
  Input input;

  // Only on routes that require a role: the caller is set there.
  const Caller& caller() const { return *context.caller; }
};

template <class Controller, class InputOfRoute>
struct LockedRoute;

// Immutable, thread-safe. Runs on the request's loop. serve() is read from top to bottom; what it
// serves is a PlainRoute or a LockedRoute, the structs below, whose members are the controller and
// the controller's function for each step.
//
// Those are pointers to members, which are called by std::invoke: GCC 12 loses `this` in a
// coroutine that awaits a call by a pointer to a member.
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
  template <class TypedRoute>
  drogon::Task<drogon::HttpResponsePtr> serve(const TypedRoute& route,
                                              drogon::HttpRequestPtr request) const {
    auto& context = contextOf(request);
    const auto& spec = route.spec();
    parts_.callers.admit(spec, request, context);
    refuseOtherPaging(*request, spec.paged);
    const Asked asked(request, context);
    Call<typename TypedRoute::Input> call{request, context, route.parse(asked)};

    drogon::HttpResponsePtr response;
    if (spec.isAuthenticatedWrite())
      response = co_await parts_.idempotency.repeated(request, context);
    if (!response) {
      std::exception_ptr failure;
      try {
        if constexpr (TypedRoute::kIsLocked)
          response = co_await serveLocked(route, asked, call);
        else
          response = co_await std::invoke(route.handler, route.controller, call);
      } catch (...) {
        failure = std::current_exception();
      }
      if (failure) response = toResponse(request, failure);
      co_await parts_.idempotency.settle(context, response);
    }
    // Before the answer is sent: a read that follows the answer must see the effect.
    if (route.effect != nullptr && !hadNoEffect(response))
      std::invoke(route.effect, route.controller, call);
    co_return response;
  }

 private:
  // The handler under its lock.
  template <class Controller, class Input>
  struct LockedWork {
    const Pipeline& pipeline;
    const LockedRoute<Controller, Input>& route;
    const Call<Input>& call;
    const Protection& protection;

    drogon::Task<drogon::HttpResponsePtr> operator()(lock::LockHold& hold) {
      // The client may have gone while its request waited. Those behind it do not wait for work
      // whose answer cannot be sent.
      if (hasGone(call.request))
        co_return problem(call.request, ServiceError(ErrorCode::kLockTimeout));
      HeldLock held(hold);
      const auto observer = pipeline.parts_.protections.observe(call.request, hold);
      WriteGuard guard = pipeline.parts_.protections.guard(protection, hold, held);
      guard.observer = observer.get();
      co_return co_await std::invoke(route.handler, route.controller, call, guard);
    }
  };

  template <class Controller, class Input>
  drogon::Task<drogon::HttpResponsePtr> serveLocked(const LockedRoute<Controller, Input>& route,
                                                    const Asked& asked, Call<Input>& call) const {
    const auto& lockable = route.filter.lockable();
    const auto protection = parts_.protections.of(call.request, lockable);
    if (protection.queue != nullptr) {
      if (route.enqueuing == nullptr) throw std::logic_error("this route does not queue");
      co_return co_await std::invoke(route.enqueuing, route.controller, call, *protection.queue);
    }
    // What is known without the lock. Returned, not thrown: most requests of a rush end here, and
    // an exception costs more than the answer.
    if (route.earlyRefusal != nullptr) {
      const auto known = std::invoke(route.earlyRefusal, route.controller, call);
      if (known) co_return problem(call.request, ServiceError(*known));
    }
    if (route.preparation != nullptr)
      co_await std::invoke(route.preparation, route.controller, call.input);
    LockedWork<Controller, Input> work{*this, route, call, protection};
    const auto answer =
        co_await route.filter.run(call.request, protection.lock, route.key.render(asked), work);
    if (const auto* const refusal = std::get_if<lock::LockOutcome>(&answer))
      co_return lockRefusal(call.request, *refusal, lockable);
    co_return std::get<drogon::HttpResponsePtr>(answer);
  }

  const Parts parts_;
};

// A route whose handler runs without a lock. The pipeline reads its members.
template <class Controller, class InputOfRoute>
struct PlainRoute : Route {
  using Input = InputOfRoute;
  using Parser = Input (*)(const Asked&);
  using Handler = drogon::Task<drogon::HttpResponsePtr> (Controller::*)(const Call<Input>&) const;
  using Effect = void (Controller::*)(const Call<Input>&) const;
  static constexpr bool kIsLocked = false;

  PlainRoute(RouteSpec spec, const Pipeline& servedBy, const Controller& publisher, Parser parser,
             Handler handle)
      : Route(std::move(spec)),
        pipeline(servedBy),
        controller(publisher),
        parse(parser),
        handler(handle) {}

  // Runs before an answer is sent whose request has, or may have, changed something: the handler's
  // answer, or the kept one of a repeated Idempotency-Key. Must not throw.
  PlainRoute& afterCommit(Effect step) {
    effect = step;
    return *this;
  }

  drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const override {
    return pipeline.serve(*this, std::move(request));
  }

  const Pipeline& pipeline;
  const Controller& controller;
  const Parser parse;
  const Handler handler;
  Effect effect = nullptr;
};

// A route whose handler gets a WriteGuard, which exists only inside the lock filter. The pipeline
// reads its members.
template <class Controller, class InputOfRoute>
struct LockedRoute : Route {
  using Input = InputOfRoute;
  using Parser = Input (*)(const Asked&);
  using Handler = drogon::Task<drogon::HttpResponsePtr> (Controller::*)(const Call<Input>&,
                                                                        WriteGuard&) const;
  using Effect = void (Controller::*)(const Call<Input>&) const;
  using EarlyRefusal = std::optional<ErrorCode> (Controller::*)(const Call<Input>&) const;
  using Preparation = drogon::Task<> (Controller::*)(Input&) const;
  using Enqueuing = drogon::Task<drogon::HttpResponsePtr> (Controller::*)(const Call<Input>&,
                                                                          ClaimQueue&) const;
  static constexpr bool kIsLocked = true;

  LockedRoute(RouteSpec spec, const Pipeline& servedBy, const Controller& publisher,
              const lock::Lockable& lockable, lock::KeyTemplate keyOfLock, Parser parser,
              Handler handle)
      : Route(std::move(spec)),
        pipeline(servedBy),
        controller(publisher),
        filter(servedBy.parts().protections.configured(lockable), servedBy.parts().board,
               servedBy.parts().lockObserver),
        key(std::move(keyOfLock)),
        parse(parser),
        handler(handle) {}

  // See PlainRoute.
  LockedRoute& afterCommit(Effect step) {
    effect = step;
    return *this;
  }
  // Refuses without the lock what is known to be refused, e.g. a seat that is sold.
  LockedRoute& refuseEarly(EarlyRefusal step) {
    earlyRefusal = step;
    return *this;
  }
  // Reads before the lock is taken what the handler needs and the lock need not guard.
  LockedRoute& prepareWith(Preparation step) {
    preparation = step;
    return *this;
  }
  // Takes the place of the lock and the handler where a queue is configured or asked for.
  LockedRoute& queueWith(Enqueuing step) {
    enqueuing = step;
    return *this;
  }

  drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const override {
    return pipeline.serve(*this, std::move(request));
  }

  const Pipeline& pipeline;
  const Controller& controller;
  const lock::LockFilter filter;
  const lock::KeyTemplate key;
  const Parser parse;
  const Handler handler;
  Effect effect = nullptr;
  EarlyRefusal earlyRefusal = nullptr;
  Preparation preparation = nullptr;
  Enqueuing enqueuing = nullptr;
};

}  // namespace festa
