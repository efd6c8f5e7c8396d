// Idempotency-Key on authenticated writes.
#pragma once

#include "controllers/request_context.h"
#include "services/idempotency_service.h"
#include "services/receipt.h"

#include <drogon/HttpMiddleware.h>
#include <drogon/HttpResponse.h>

#include <memory>

namespace festa {

// A success answer as a value: what is sent, and what is kept for repetitions.
struct Answer {
  drogon::HttpStatusCode status = drogon::k200OK;
  std::string body = {};
  std::string location = {};
};

drogon::HttpResponsePtr toResponse(const Answer& answer);

// Whether nothing was stored for certain. After a success, and after an outcome that nobody knows,
// it is not.
bool hadNoEffect(const drogon::HttpResponsePtr& response);

// The receipt that keeps `render(value)` under the request's key, with its effect. Empty when the
// request has no key.
template <class T, class Render>
Receipt<T> receiptOf(const drogon::HttpRequestPtr& request, Render render) {
  const auto& claim = contextOf(request).claim;
  if (!claim) return {};
  return [claim = *claim, render](Sql& sql, const T& value) {
    Answer answer = render(value);
    KeptAnswer kept{answer.status, std::move(answer.body), std::move(answer.location)};
    return keepAnswer(sql, claim, std::move(kept));
  };
}

// Between the gate and the lock: claims the key, or answers in place of the handler. Runs on the
// request's loop.
class IdempotencyMiddleware : public drogon::HttpCoroMiddleware<IdempotencyMiddleware, false> {
 public:
  explicit IdempotencyMiddleware(std::shared_ptr<const IdempotencyService> service)
      : service_(std::move(service)) {}

  const std::string& className() const override { return kName; }

  drogon::Task<drogon::HttpResponsePtr> invoke(const drogon::HttpRequestPtr& request,
                                               drogon::MiddlewareNextAwaiter&& next) override;

 private:
  static const std::string kName;
  const std::shared_ptr<const IdempotencyService> service_;
};

}  // namespace festa
