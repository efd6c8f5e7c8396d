// What we rely on of Drogon: an exception of any type, of a handler or a middleware, is answered.
#include <drogon/HttpAppFramework.h>
#include <drogon/HttpBinder.h>
#include <drogon/HttpMiddleware.h>
#include <gtest/gtest.h>

namespace festa::test {

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

class ThrowingMiddleware : public drogon::HttpCoroMiddleware<ThrowingMiddleware, false> {
 public:
  drogon::Task<HttpResponsePtr> invoke(const HttpRequestPtr&,
                                       drogon::MiddlewareNextAwaiter&&) override {
    throw 42;
    co_return nullptr;
  }
};

drogon::Task<HttpResponsePtr> throwNumber(HttpRequestPtr) {
  throw 42;
  co_return nullptr;
}

// 0: none came. Everything here ends before it returns.
class Answer {
 public:
  std::function<void(const HttpResponsePtr&)> callback() {
    return [this](const HttpResponsePtr& response) { status_ = response->statusCode(); };
  }
  int status() const { return status_; }

 private:
  int status_ = 0;
};

}  // namespace

TEST(DrogonExceptions, AHandlerThatThrowsANumberIsAnsweredWith500) {
  std::function<drogon::Task<HttpResponsePtr>(HttpRequestPtr)> handler = throwNumber;
  drogon::internal::HttpBinder<decltype(handler)> binder(std::move(handler));
  Answer answer;
  std::deque<std::string> noArguments;
  binder.handleHttpRequest(noArguments, drogon::HttpRequest::newHttpRequest(), answer.callback());
  EXPECT_EQ(answer.status(), 500);
}

TEST(DrogonExceptions, AMiddlewareThatThrowsANumberIsAnsweredWith500) {
  ThrowingMiddleware middleware;
  drogon::HttpMiddlewareBase& base = middleware;
  Answer answer;
  base.invoke(
      drogon::HttpRequest::newHttpRequest(), [](auto&&) {}, answer.callback());
  EXPECT_EQ(answer.status(), 500);
}

}  // namespace festa::test
