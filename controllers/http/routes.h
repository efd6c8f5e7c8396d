// How controllers publish their routes.
#pragma once

#include "controllers/errors/error_table.h"
#include "controllers/http/pipeline.h"
#include "controllers/http/route_table.h"

#include <set>
#include <stdexcept>

namespace festa {

// What all routes of a controller have. The controller outlives the table.
template <class Controller, class InputOfRoute>
class TypedRoute : public Endpoint {
 public:
  using Input = InputOfRoute;
  using Parse = Input (*)(const Asked&);
  using Look = void (Controller::*)(const Call<Input>&) const;

  // For the pipeline.
  Input parse(const Asked& asked) const { return parse_(asked); }
  void afterEffect(const Call<Input>& call) const {
    if (afterEffect_ != nullptr) (controller_.*afterEffect_)(call);
  }

 protected:
  TypedRoute(const Pipeline& pipeline, const Controller& controller, RouteHead head, Parse input)
      : Endpoint(std::move(head)), pipeline_(pipeline), controller_(controller), parse_(input) {}

  const Pipeline& pipeline_;
  const Controller& controller_;
  const Parse parse_;
  Look afterEffect_ = nullptr;
};

// A route whose handler runs without a lock.
template <class Controller, class Input>
class PlainRoute : public TypedRoute<Controller, Input> {
 public:
  using Base = TypedRoute<Controller, Input>;
  using Handle = drogon::Task<drogon::HttpResponsePtr> (Controller::*)(const Call<Input>&) const;
  static constexpr bool kIsLocked = false;

  PlainRoute(const Pipeline& pipeline, const Controller& controller, RouteHead head,
             typename Base::Parse input, Handle handler)
      : Base(pipeline, controller, std::move(head), input), handle_(handler) {}

  // Runs before an answer is sent whose request has, or may have, changed something: the handler's
  // answer, or the kept one of a repeated Idempotency-Key. Must not throw.
  PlainRoute& onEffect(typename Base::Look step) {
    this->afterEffect_ = step;
    return *this;
  }

  drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const override {
    return this->pipeline_.serve(*this, std::move(request));
  }

  // For the pipeline.
  drogon::Task<drogon::HttpResponsePtr> handle(const Call<Input>& call) const {
    return (this->controller_.*handle_)(call);
  }

 private:
  const Handle handle_;
};

// A route whose handler gets a WriteGuard, which there is only inside the lock filter.
template <class Controller, class Input>
class LockedRoute : public TypedRoute<Controller, Input> {
 public:
  using Base = TypedRoute<Controller, Input>;
  using Handle = drogon::Task<drogon::HttpResponsePtr> (Controller::*)(const Call<Input>&,
                                                                       WriteGuard&) const;
  using Shortcut = std::optional<ErrorCode> (Controller::*)(const Call<Input>&) const;
  using Prepare = drogon::Task<> (Controller::*)(Input&) const;
  using Enqueue = drogon::Task<drogon::HttpResponsePtr> (Controller::*)(const Call<Input>&,
                                                                        ClaimQueue&) const;
  static constexpr bool kIsLocked = true;

  // Throws lock::KeyTemplateError when the key needs what is not among `keyVariables`.
  LockedRoute(const Pipeline& pipeline, const Controller& controller, RouteHead head,
              const lock::Lockable& lockable, const std::set<std::string>& keyVariables,
              typename Base::Parse input, Handle handler)
      : Base(pipeline, controller, std::move(head), input),
        filter_(pipeline.parts().protections.configured(lockable), pipeline.parts().board,
                pipeline.parts().lockObserver),
        key_(lock::KeyTemplate::compile(lockable.key, keyVariables)),
        handle_(handler) {}

  // As PlainRoute's.
  LockedRoute& onEffect(typename Base::Look step) {
    this->afterEffect_ = step;
    return *this;
  }
  // What is known to be refused without the lock, e.g. a seat that is sold.
  LockedRoute& unless(Shortcut step) {
    shortcut_ = step;
    return *this;
  }
  // What the handler needs to read and the lock need not guard: read before it is taken.
  LockedRoute& after(Prepare step) {
    prepare_ = step;
    return *this;
  }
  // In place of the lock and the handler, where a queue is configured or wished.
  LockedRoute& orQueued(Enqueue step) {
    enqueue_ = step;
    return *this;
  }

  drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr request) const override {
    return this->pipeline_.serve(*this, std::move(request));
  }

  // For the pipeline.
  const lock::LockFilter& filter() const { return filter_; }
  lock::LockKey key(const Asked& asked) const { return key_.render(asked); }
  drogon::Task<drogon::HttpResponsePtr> handle(const Call<Input>& call, WriteGuard& guard) const {
    return (this->controller_.*handle_)(call, guard);
  }
  std::optional<ErrorCode> shortcut(const Call<Input>& call) const {
    return shortcut_ != nullptr ? (this->controller_.*shortcut_)(call) : std::nullopt;
  }
  // No coroutine itself: GCC 12 loses `this` in one that awaits a call by a pointer to a member.
  drogon::Task<> prepare(Input& input) const {
    return prepare_ != nullptr ? (this->controller_.*prepare_)(input) : nothing();
  }
  drogon::Task<drogon::HttpResponsePtr> enqueue(const Call<Input>& call, ClaimQueue& queue) const {
    if (enqueue_ == nullptr) throw std::logic_error("this route does not queue");
    return (this->controller_.*enqueue_)(call, queue);
  }

 private:
  static drogon::Task<> nothing() { co_return; }

  const lock::LockFilter filter_;
  const lock::KeyTemplate key_;
  const Handle handle_;
  Shortcut shortcut_ = nullptr;
  Prepare prepare_ = nullptr;
  Enqueue enqueue_ = nullptr;
};

// Of a route that reads nothing of its request.
struct NoInput {};
inline NoInput parseNothing(const Asked&) {
  return {};
}

// Fills a table. Used at start only.
class Routes {
 public:
  // Both outlive the routes.
  Routes(RouteTable& table, const Pipeline& pipeline) : table_(table), pipeline_(pipeline) {}

  template <class Controller, class Input>
  PlainRoute<Controller, Input>& add(
      const Controller& controller, RouteHead head, Input (*parse)(const Asked&),
      drogon::Task<drogon::HttpResponsePtr> (Controller::*handle)(const Call<Input>&) const) {
    return put(std::make_unique<PlainRoute<Controller, Input>>(pipeline_, controller,
                                                               std::move(head), parse, handle));
  }

  // `bodyFields`: those that the lock's key may use. Throws lock::KeyTemplateError when the key
  // needs what this route does not have, and std::logic_error when the busyCode is unknown.
  template <class Controller, class Input>
  LockedRoute<Controller, Input>& addLocked(
      const Controller& controller, RouteHead head, const lock::Lockable& lockable,
      const std::vector<std::string>& bodyFields, Input (*parse)(const Asked&),
      drogon::Task<drogon::HttpResponsePtr> (Controller::*handle)(const Call<Input>&, WriteGuard&)
          const) {
    requireKnownCode(lockable);
    const auto variables = keyVariables(head, bodyFields);
    return put(std::make_unique<LockedRoute<Controller, Input>>(
        pipeline_, controller, std::move(head), lockable, variables, parse, handle));
  }

 private:
  template <class Route>
  Route& put(std::unique_ptr<Route> route) {
    auto& added = *route;
    table_.add(std::move(route));
    return added;
  }
  static void requireKnownCode(const lock::Lockable& lockable);
  static std::set<std::string> keyVariables(const RouteHead& head,
                                            const std::vector<std::string>& bodyFields);

  RouteTable& table_;
  const Pipeline& pipeline_;
};

}  // namespace festa
