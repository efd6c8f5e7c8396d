#include "controllers/http/caller_check.h"

#include "services/error.h"

#include <algorithm>

namespace festa {

namespace {

using drogon::HttpRequestPtr;

// The token of an Authorization header; nullopt for another scheme. The scheme's case does not
// matter (RFC 9110, 11.1).
std::optional<std::string> bearerToken(const std::string& header) {
  const auto space = std::min(header.find(' '), header.size());
  std::string scheme = header.substr(0, space);
  for (auto& c : scheme) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (scheme != "bearer") return std::nullopt;
  return header.substr(std::min(header.find_first_not_of(' ', space), header.size()));
}

// A client that did not get the answer to its change of password asks again with the token that
// the change has ended.
bool mayBeRepetition(const RouteSpec& route, const HttpRequestPtr& request) {
  return route.endsTokens && !request->getHeader("idempotency-key").empty();
}

void requireToken(RateLimiter* limiter, const std::string& name) {
  const auto wait = limiter != nullptr ? limiter->take(name) : std::nullopt;
  if (!wait) return;
  ServiceError error(ErrorCode::kRateLimited);
  error.retryAfter(*wait);
  throw error;
}

std::string nameOf(const Caller& caller) {
  return (caller.realm == Realm::kCouncil ? "council:" : "user:") + std::to_string(caller.uid);
}

}  // namespace

void CallerCheck::admit(const RouteSpec& route, const HttpRequestPtr& request,
                        RequestContext& context) const {
  limitAddress(route, request);
  identify(route, request, context);
  limitCaller(route, context);
}

void CallerCheck::identify(const RouteSpec& route, const HttpRequestPtr& request,
                           RequestContext& context) const {
  if (route.access.empty()) return;
  if (!context.caller) context.caller = authenticate(request);
  context.mayOnlyRepeat = !passwords_.isCurrent(*context.caller);
  if (context.mayOnlyRepeat && !mayBeRepetition(route, request))
    throw ServiceError(ErrorCode::kUnauthenticated, kEndedToken);
  const bool isAllowed =
      std::any_of(route.access.begin(), route.access.end(),
                  [&](const std::string& role) { return context.caller->hasRole(role); });
  if (!isAllowed) throw ServiceError(ErrorCode::kForbidden);
}

Caller CallerCheck::authenticate(const HttpRequestPtr& request) const {
  const auto token = bearerToken(request->getHeader("authorization"));
  if (!token) throw ServiceError(ErrorCode::kUnauthenticated, "no bearer token");
  auto caller = tokens_.verify(*token);
  if (!caller) throw ServiceError(ErrorCode::kUnauthenticated, "bad token");
  return std::move(*caller);
}

void CallerCheck::limitAddress(const RouteSpec& route, const HttpRequestPtr& request) const {
  if (!route.checksPassword) return;
  const auto address = clientAddress(request->peerAddr().toIp(),
                                     request->getHeader("x-forwarded-for"), limits_.proxies);
  requireToken(limits_.passwords.get(), limitedName(address));
}

// Requests with an ended token do not count against what its owner may do.
void CallerCheck::limitCaller(const RouteSpec& route, const RequestContext& context) const {
  if (!route.isAuthenticatedWrite() || context.mayOnlyRepeat) return;
  const auto name = nameOf(*context.caller);
  if (route.checksPassword) requireToken(limits_.passwords.get(), name);
  requireToken(limits_.writes.get(), name);
}

}  // namespace festa
