#include "lock/drogon/locked_routes.h"

#include <drogon/HttpAppFramework.h>
#include <drogon/HttpMiddleware.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

class NamedMiddleware : public drogon::HttpCoroMiddleware<NamedMiddleware, false> {
 public:
  const std::string& className() const override {
    static const std::string name = "guarded-routes-test";
    return name;
  }
  drogon::Task<drogon::HttpResponsePtr> invoke(const drogon::HttpRequestPtr&,
                                               drogon::MiddlewareNextAwaiter&& next) override {
    co_return co_await next;
  }
};

}  // namespace

TEST(LockedRoutes, ARegisteredMiddlewareIsAccepted) {
  drogon::app().registerMiddleware(std::make_shared<NamedMiddleware>());
  lock::LockedRoutes routes;
  routes.expect("POST /x", "guarded-routes-test");
  EXPECT_NO_THROW(routes.verify());
}

TEST(LockedRoutes, AnUnknownMiddlewareStopsTheStartAndNamesTheRoute) {
  lock::LockedRoutes routes;
  routes.expect("POST /x", "lock:mistyped");
  try {
    routes.verify();
    FAIL() << "the route would run unguarded";
  } catch (const lock::UnlockedRoute& error) {
    EXPECT_NE(std::string(error.what()).find("POST /x"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("lock:mistyped"), std::string::npos);
  }
}

}  // namespace festa::test
