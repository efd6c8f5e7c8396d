// Idempotency-Key on authenticated writes.
#pragma once

#include "controllers/request_context.h"
#include "services/idempotency_service.h"
#include "services/receipt.h"

#include <drogon/HttpResponse.h>

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

// Keeps `render(value)` under the request's key, with its effect. Lives in the handler's frame.
template <class T, class Render>
class KeptReceipt : public Receipt<T> {
 public:
  KeptReceipt(const std::optional<IdempotencyClaim>& claim, const Render& render)
      : claim_(claim), render_(render) {}

  // nullptr: the request has no key.
  const Receipt<T>* wanted() const { return claim_ ? this : nullptr; }

  drogon::Task<> keep(Sql& sql, const T& value) const override {
    Answer answer = render_(value);
    KeptAnswer kept{answer.status, std::move(answer.body), std::move(answer.location)};
    return keepAnswer(sql, *claim_, std::move(kept));
  }

 private:
  const std::optional<IdempotencyClaim>& claim_;
  const Render& render_;
};

template <class T, class Render>
KeptReceipt<T, Render> receiptFor(const RequestContext& context, const Render& render) {
  return {context.claim, render};
}

// One effect and one answer per key. Thread-safe; awaited on the request's loop.
class Idempotency {
 public:
  // `service` outlives it.
  explicit Idempotency(const IdempotencyService& service) : service_(service) {}

  // Claims the request's key, if it has one. An answer: that of the same request, which was served
  // before. Throws ServiceError: kInvalidParameter, kRequestInProgress, kIdempotencyKeyReused,
  // kUnauthenticated.
  drogon::Task<drogon::HttpResponsePtr> repeated(drogon::HttpRequestPtr request,
                                                 RequestContext& context) const;

  // Frees the key of a request that had no effect. The write itself has settled the key of one that
  // had; while the outcome is unknown (500) the key stays claimed.
  drogon::Task<> settle(const RequestContext& context, drogon::HttpResponsePtr response) const;

 private:
  const IdempotencyService& service_;
};

}  // namespace festa
