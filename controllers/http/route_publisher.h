// How controllers publish their routes.
//
// This folder is the way of a request from the socket to a controller's handler and back:
//   http_server, connections, drain    who may be connected, and the end of it
//   http_front                         what holds for every request, before and after its route
//   route_table, route_publisher       which routes there are
//   pipeline                           the steps of a request that has found its route
//   request_context, asked             what is known about a request, and what it asks for
//   caller_check, rate_limiter, client_address   who asks, and how often
//   idempotency, protection           what surrounds the handler of a write
//   representation                               which form of an answer a client takes
// A new route needs no change here: its controller includes this header and publishes it. The order
// of the steps is in pipeline.h, for all routes alike.
//
// A controller outlives the table that it publishes its routes to, and what a controller is made of
// outlives the controller. Controllers are immutable and thread-safe: a handler runs on the
// request's loop, for many requests at a time.
#pragma once

#include "controllers/errors/error_table.h"
#include "controllers/http/pipeline.h"
#include "controllers/http/route_table.h"

#include <set>
#include <stdexcept>

namespace festa {

// The input of a route that reads nothing of its request.
struct NoInput {};
inline NoInput parseNothing(const Asked&) {
  return {};
}

// Fills a table. Used at start only.
class RoutePublisher {
 public:
  // Both outlive the routes.
  RoutePublisher(RouteTable& table, const Pipeline& pipeline)
      : table_(table), pipeline_(pipeline) {}

  template <class Controller, class Input>
  PlainRoute<Controller, Input>& add(
      const Controller& controller, RouteSpec spec, Input (*parse)(const Asked&),
      drogon::Task<drogon::HttpResponsePtr> (Controller::*handle)(const Call<Input>&) const) {
    return put(std::make_unique<PlainRoute<Controller, Input>>(std::move(spec), pipeline_,
                                                               controller, parse, handle));
  }

  // `bodyFields`: those that the lock's key may use. Throws lock::KeyTemplateError when the key
  // needs what this route does not have, and std::logic_error when the busyCode is unknown.
  template <class Controller, class Input>
  LockedRoute<Controller, Input>& addLocked(
      const Controller& controller, RouteSpec spec, const lock::Lockable& lockable,
      const std::vector<std::string>& bodyFields, Input (*parse)(const Asked&),
      drogon::Task<drogon::HttpResponsePtr> (Controller::*handle)(const Call<Input>&, WriteGuard&)
          const) {
    auto key = keyOf(lockable, spec, bodyFields);
    return put(std::make_unique<LockedRoute<Controller, Input>>(
        std::move(spec), pipeline_, controller, lockable, std::move(key), parse, handle));
  }

 private:
  template <class TypedRoute>
  TypedRoute& put(std::unique_ptr<TypedRoute> route) {
    auto& added = *route;
    table_.add(std::move(route));
    return added;
  }
  static lock::KeyTemplate keyOf(const lock::Lockable& lockable, const RouteSpec& spec,
                                 const std::vector<std::string>& bodyFields) {
    if (!lockable.busyCode.empty() && !errorCodeNamed(lockable.busyCode))
      throw std::logic_error("lock '" + lockable.name + "' names an unknown busyCode");
    std::set<std::string> variables;
    for (const auto& name : parameterNames(spec.path)) variables.insert("path." + name);
    for (const auto& field : bodyFields) variables.insert("body." + field);
    if (!spec.access.empty()) variables.insert({"token.uid", "token.festivalId"});
    return lock::KeyTemplate::compile(lockable.key, variables);
  }

  RouteTable& table_;
  const Pipeline& pipeline_;
};

}  // namespace festa
