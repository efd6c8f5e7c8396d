// A lock middleware around handlers of a test, as Drogon would run them.
#pragma once

#include "lock/drogon/lock_middleware.h"
#include "tests/support/kept_forever.h"
#include "tests/support/loops.h"

#include <drogon/HttpAppFramework.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace festa::test {

// What the middleware told. Thread-safe.
class Recorder : public lock::LockObserver {
 public:
  void finished(const drogon::HttpRequestPtr&, const lock::LockRecord& record) override {
    const std::lock_guard guard(mutex_);
    outcomes_.push_back(record.outcome);
    lastEnd_ = record.ended;
    lastHold_ = record.hold;
  }
  void renewed(const std::string&, const std::string&, lock::RenewalOutcome outcome) override {
    const std::lock_guard guard(mutex_);
    renewals_.push_back(outcome);
  }

  std::vector<lock::LockOutcome> outcomes() const {
    const std::lock_guard guard(mutex_);
    return outcomes_;
  }
  // Until when the last one relied on its hold.
  lock::SteadyTime lastEnd() const {
    const std::lock_guard guard(mutex_);
    return lastEnd_;
  }
  // How long the last one had its key.
  lock::SteadyClock::duration lastHold() const {
    const std::lock_guard guard(mutex_);
    return lastHold_;
  }
  long renewals(lock::RenewalOutcome outcome) const {
    const std::lock_guard guard(mutex_);
    return std::count(renewals_.begin(), renewals_.end(), outcome);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<lock::LockOutcome> outcomes_;
  std::vector<lock::RenewalOutcome> renewals_;
  lock::SteadyTime lastEnd_;
  lock::SteadyClock::duration lastHold_{};
};

class LoopFixture : public testing::Test {
 protected:
  Loops loops_;
};

// Fixture is a testing::Test with `loops_`: requests run on the first of them. The strategy of all
// requests is the storage that the test sets.
template <class Fixture>
class WithMiddleware : public Fixture {
 protected:
  using HttpRequestPtr = drogon::HttpRequestPtr;
  using HttpResponsePtr = drogon::HttpResponsePtr;
  using Handler = std::function<drogon::Task<HttpResponsePtr>(HttpRequestPtr)>;

  class Host : public lock::LockMiddlewareHost {
   public:
    explicit Host(const WithMiddleware& test) : test_(test) {}

    std::optional<std::string> variable(const HttpRequestPtr& request,
                                        std::string_view) const override {
      return request->getParameter("id");
    }
    lock::Strategy strategy(const HttpRequestPtr&, const lock::Lockable&) const override {
      return {"memory", test_.storage_.get()};
    }
    HttpResponsePtr refuse(const HttpRequestPtr&, lock::LockOutcome outcome,
                           const lock::Lockable&) const override {
      test_.refused_.push_back(outcome);
      return drogon::HttpResponse::newHttpResponse(drogon::k503ServiceUnavailable, drogon::CT_NONE);
    }

   private:
    const WithMiddleware& test_;
  };

  std::shared_ptr<lock::LockMiddleware> make(lock::Lockable lockable) {
    return std::make_shared<lock::LockMiddleware>(
        std::move(lockable), std::set<std::string>{"path.id"}, host_, *board_, *recorder_);
  }

  // What Drogon does around a handler: its coroutine ends in a response, which is passed back up.
  // Of what is thrown only a std::exception becomes one.
  static drogon::MiddlewareNextCallback nextOf(const Handler& handler,
                                               const HttpRequestPtr& request) {
    return [handler, request](std::function<void(const HttpResponsePtr&)>&& back) {
      runHandler(handler, request, std::move(back));
    };
  }

  static drogon::AsyncTask runHandler(Handler handler, HttpRequestPtr request,
                                      std::function<void(const HttpResponsePtr&)> answer) {
    HttpResponsePtr response;
    try {
      response = co_await handler(request);
    } catch (const std::exception&) {
      response =
          drogon::HttpResponse::newHttpResponse(drogon::k500InternalServerError, drogon::CT_NONE);
    } catch (...) {
      co_return;
    }
    answer(response);
  }

  static HttpRequestPtr requestFor(const std::string& id) {
    auto request = drogon::HttpRequest::newHttpRequest();
    request->setParameter("id", id);
    return request;
  }

  std::future<HttpResponsePtr> start(const std::shared_ptr<lock::LockMiddleware>& middleware,
                                     const Handler& handler, const std::string& id = "1") {
    return startOn(this->loops_.at(), [middleware, handler, request = requestFor(id)] {
      return middleware->serve(request, nextOf(handler, request));
    });
  }

  static drogon::Task<HttpResponsePtr> ok(HttpRequestPtr) {
    co_return drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_NONE);
  }

  Loops timers_;
  std::shared_ptr<lock::LockStorage> storage_;
  // A renewal that is still on its way tells its end.
  Recorder* const recorder_ = &keptForever(std::make_unique<Recorder>());
  std::shared_ptr<lock::LockBoard> board_ = std::make_shared<lock::LockBoard>(100);
  mutable std::vector<lock::LockOutcome> refused_;
  const Host host_{*this};
  const lock::Lockable lockable_{.name = "test", .key = "k:{path.id}"};
};

}  // namespace festa::test
