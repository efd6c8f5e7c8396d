// Idempotency-Key on authenticated writes.
#pragma once

#include "controllers/http/request_context.h"
#include "services/idempotency/idempotency_service.h"
#include "services/write/receipt.h"

#include <drogon/HttpResponse.h>

namespace festa {

// A success answer as a value: what is sent, and what is kept for repetitions.
struct Answer {
  drogon::HttpStatusCode status = drogon::k200OK;
  std::string body = {};
  std::string location = {};
};

drogon::HttpResponsePtr toResponse(const Answer& answer);

// Whether it is certain that nothing was stored. False after a success and after an unknown
// outcome.
bool hadNoEffect(const drogon::HttpResponsePtr& response);

// Keeps `render(value)` under the request's key, with its effect. Lives in the handler's frame.
template <class T, class Render>
class KeptReceipt : public Receipt<T> {
 public:
  KeptReceipt(const std::optional<IdempotencyAttempt>& attempt, const Render& render)
      : attempt_(attempt), render_(render) {}

  // Returns nullptr when the request has no key.
  const Receipt<T>* wanted() const { return attempt_ ? this : nullptr; }

  drogon::Task<> keep(Sql& sql, const T& value) const override {
    return keepAnswer(sql, *attempt_, answer(value));
  }
  const IdempotencyAttempt* attempt() const override { return &*attempt_; }
  KeptAnswer answer(const T& value) const override {
    Answer rendered = render_(value);
    return {rendered.status, std::move(rendered.body), std::move(rendered.location)};
  }

 private:
  const std::optional<IdempotencyAttempt>& attempt_;
  const Render& render_;
};

template <class T, class Render>
KeptReceipt<T, Render> receiptFor(const RequestContext& context, const Render& render) {
  return {context.attempt, render};
}

// One effect and one answer per key. Thread-safe; awaited on the request's loop.
class Idempotency {
 public:
  // `service` outlives it.
  explicit Idempotency(const IdempotencyService& service) : service_(service) {}

  // Takes the request's key, if it has one. An answer: that of the same request, which was served
  // before. Throws ServiceError: kInvalidParameter, kRequestInProgress, kIdempotencyKeyReused,
  // kUnauthenticated.
  drogon::Task<drogon::HttpResponsePtr> repeated(drogon::HttpRequestPtr request,
                                                 RequestContext& context) const;

  // Frees the key of a request that had no effect. The write itself has settled the key of one that
  // had; while the outcome is unknown (500) the key stays taken.
  drogon::Task<> settle(const RequestContext& context, drogon::HttpResponsePtr response) const;

 private:
  const IdempotencyService& service_;
};

}  // namespace festa
