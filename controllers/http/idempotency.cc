#include "controllers/http/idempotency.h"

#include "controllers/http/asked.h"
#include "controllers/json/responses.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>

namespace festa {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

namespace {

constexpr std::size_t kMaxKey = 128;

void requireUsable(const std::string& key) {
  const bool visible =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (key.size() > kMaxKey || !visible)
    throw invalidParameter(inHeader("Idempotency-Key"),
                           "공백이 아닌 ASCII 문자 128자 이하여야 합니다.",
                           "must be at most 128 visible ASCII characters");
}

// Lengths keep the parts apart.
std::string fingerprintOf(const HttpRequestPtr& request) {
  const std::string method = request->methodString();
  const std::string& path = request->path();
  std::string text = method + ' ' + std::to_string(path.size()) + ' ' + path + ' ';
  text.append(request->body());
  return drogon::utils::getSha256(text);
}

IdempotencyAttempt attemptOf(const Caller& caller, const std::string& key) {
  return {caller.realm == Realm::kCouncil ? "council" : "user", caller.uid, key,
          drogon::utils::getUuid()};
}

HttpResponsePtr toResponse(const KeptAnswer& kept) {
  return festa::toResponse(
      Answer{static_cast<drogon::HttpStatusCode>(kept.status), kept.body, kept.location});
}

}  // namespace

HttpResponsePtr toResponse(const Answer& answer) {
  auto response =
      answer.body.empty() ? emptyResponse(answer.status) : jsonResponse(answer.status, answer.body);
  if (!answer.location.empty()) response->addHeader("Location", answer.location);
  return response;
}

bool hadNoEffect(const HttpResponsePtr& response) {
  const auto status = response->statusCode();
  return status >= 400 && status != drogon::k500InternalServerError;
}

drogon::Task<HttpResponsePtr> Idempotency::repeated(HttpRequestPtr request,
                                                    RequestContext& context) const {
  const std::string key = request->getHeader("idempotency-key");
  if (key.empty()) co_return nullptr;
  requireUsable(key);
  const auto attempt = attemptOf(*context.caller, key);
  const auto fingerprint = fingerprintOf(request);
  if (context.mayOnlyRepeat) {
    const auto kept = co_await service_.find(attempt, fingerprint);
    if (!kept) throw ServiceError(ErrorCode::kUnauthenticated, kEndedToken);
    co_return toResponse(*kept);
  }
  const auto found = co_await service_.take(attempt, fingerprint);
  switch (found.state) {
    case IdempotencyService::State::kTaken: break;
    case IdempotencyService::State::kDone: co_return toResponse(found.answer);
    case IdempotencyService::State::kRunning: throw ServiceError(ErrorCode::kRequestInProgress);
    case IdempotencyService::State::kReused: throw ServiceError(ErrorCode::kIdempotencyKeyReused);
  }
  context.attempt = attempt;
  co_return nullptr;
}

drogon::Task<> Idempotency::settle(const RequestContext& context, HttpResponsePtr response) const {
  if (context.attempt && hadNoEffect(response)) co_await service_.giveUp(*context.attempt);
}

}  // namespace festa
