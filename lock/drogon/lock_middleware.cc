#include "lock/drogon/lock_middleware.h"

#include "lock/drogon/next_answer.h"

#include <drogon/HttpAppFramework.h>

namespace festa::lock {

namespace {

const std::string kAttribute = "festa.lock.hold";

void answerFailure(const std::exception_ptr& failure, const drogon::HttpRequestPtr& request,
                   drogon::MiddlewareCallback answer) {
  const auto& handler = drogon::app().getExceptionHandler();
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    handler(error, request, std::move(answer));
  } catch (...) {
    handler(std::runtime_error("something was thrown that is not a std::exception"), request,
            std::move(answer));
  }
}

// The rest of Drogon's chain as the filter's work.
struct Next {
  const drogon::HttpRequestPtr& request;
  drogon::MiddlewareNextCallback next;

  drogon::Task<drogon::HttpResponsePtr> operator()(LockHold& hold) {
    request->attributes()->insert(kAttribute, &hold);
    NextAnswer handler(std::move(next));
    co_return co_await handler;
  }
};

class Variables : public KeyVariables {
 public:
  Variables(const LockMiddlewareHost& host, const drogon::HttpRequestPtr& request)
      : host_(host), request_(request) {}
  std::optional<std::string> variable(std::string_view name) const override {
    return host_.variable(request_, name);
  }

 private:
  const LockMiddlewareHost& host_;
  const drogon::HttpRequestPtr& request_;
};

}  // namespace

LockMiddleware::LockMiddleware(Lockable lockable, const std::set<std::string>& variables,
                               const LockMiddlewareHost& host, LockBoard& board,
                               LockObserver& observer)
    : filter_(std::move(lockable), board, observer),
      name_(middlewareName(filter_.lockable())),
      key_(KeyTemplate::compile(filter_.lockable().key, variables)),
      host_(host) {}

void LockMiddleware::invoke(const drogon::HttpRequestPtr& request,
                            drogon::MiddlewareNextCallback&& next,
                            drogon::MiddlewareCallback&& answer) {
  serveAndAnswer(request, std::move(next), std::move(answer));
}

drogon::AsyncTask LockMiddleware::serveAndAnswer(drogon::HttpRequestPtr request,
                                                 drogon::MiddlewareNextCallback next,
                                                 drogon::MiddlewareCallback answer) const {
  drogon::HttpResponsePtr response;
  std::exception_ptr failure;
  try {
    response = co_await serve(request, std::move(next));
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure)
    answerFailure(failure, request, std::move(answer));
  else
    answer(response);
}

drogon::Task<drogon::HttpResponsePtr> LockMiddleware::serve(
    drogon::HttpRequestPtr request, drogon::MiddlewareNextCallback next) const {
  const auto strategy = host_.strategy(request, filter_.lockable());
  const auto key = key_.render(Variables(host_, request));
  Next work{request, std::move(next)};
  const auto answer = co_await filter_.run(request, strategy, key, work);
  if (const auto* const refusal = std::get_if<LockOutcome>(&answer))
    co_return host_.refuse(request, *refusal, filter_.lockable());
  co_return std::get<drogon::HttpResponsePtr>(answer);
}

LockHold* holdOf(const drogon::HttpRequestPtr& request) {
  const auto& attributes = request->attributes();
  return attributes->find(kAttribute) ? attributes->get<LockHold*>(kAttribute) : nullptr;
}

}  // namespace festa::lock
