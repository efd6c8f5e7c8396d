#include "lock/drogon/locked_routes.h"

#include <drogon/DrClassMap.h>
#include <drogon/HttpMiddleware.h>

namespace festa::lock {

void LockedRoutes::verify() const {
  for (const auto& [route, middleware] : expected_) {
    const auto instance = drogon::DrClassMap::getSingleInstance(middleware);
    if (!std::dynamic_pointer_cast<drogon::HttpMiddlewareBase>(instance))
      throw UnlockedRoute("route '" + route + "' names the middleware '" + middleware +
                          "', which is not registered: it would run without its lock");
  }
}

}  // namespace festa::lock
