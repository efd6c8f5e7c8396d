// Routes that are never asked.
#pragma once

#include "controllers/http/route_table.h"

#include <stdexcept>

namespace festa::test {

class SilentRoute : public Route {
 public:
  using Route::Route;
  drogon::Task<drogon::HttpResponsePtr> answer(drogon::HttpRequestPtr) const override {
    throw std::logic_error("a SilentRoute must not be called");
    co_return nullptr;
  }
};

inline std::unique_ptr<Route> silentRoute(drogon::HttpMethod method, std::string path,
                                          bool isEnveloped = false) {
  RouteSpec head{.method = method, .path = std::move(path), .access = kAnyone};
  head.isEnveloped = isEnveloped;
  return std::make_unique<SilentRoute>(std::move(head));
}

}  // namespace festa::test
